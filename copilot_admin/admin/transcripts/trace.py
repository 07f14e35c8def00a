"""Trace of a turn: a waterfall of model calls, tools and widget data, and the facts of each request."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.agent.prompt.conversation import model_messages
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.agent.values.answer_request import AnswerRequest
from copilot_admin.agent.values.document import spec_from_document
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.models import EventType, Run
from copilot_admin.transcripts.queries import EventView, RunView, TurnView
from protocol.parsing import UnusableQuery, parse_query

MAX_PROMPT_CHARACTERS = 100_000
PROVIDER_WORDS = "The provider's words: "


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRow:
    """A bar; times are in milliseconds since the question.

    Attributes:
        series: Class of the colour.
        wait_ms: Time before the first word, at the beginning of the bar.
    """

    name: str | Promise
    icon: str
    series: str
    start_ms: int
    ms: int
    wait_ms: int = 0
    level: int = 2
    total_ms: int

    @property
    def start(self) -> str:
        return self._percent(self.start_ms)

    @property
    def wait(self) -> str:
        return self._percent(self.wait_ms)

    @property
    def after_wait(self) -> str:
        return self._percent(self.start_ms + self.wait_ms)

    @property
    def width(self) -> str:
        return self._percent(max(self.ms - self.wait_ms, self.total_ms // 100))

    def _percent(self, ms: int) -> str:
        return f"{100 * ms / max(self.total_ms, 1):.1f}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTrace:
    """A request of the turn; `provider_words` is the provider's own error."""

    number: int
    run: RunView
    provider_words: str
    notes: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Trace of a turn."""

    total_ms: int
    first_ms: int | None
    rows: Sequence[TraceRow]
    runs: Sequence[RunTrace]


def build_trace(turn: TurnView) -> Trace:
    """Return the trace of a turn from its requests and events."""
    if not turn.runs:
        return Trace(total_ms=0, first_ms=None, rows=(), runs=())
    began = turn.runs[0].row.started_at
    offsets = [round((run.row.started_at - began).total_seconds() * 1000) for run in turn.runs]
    lengths = [_length(run) for run in turn.runs]
    total = max(start + ms for start, ms in zip(offsets, lengths, strict=True))
    rows = [
        TraceRow(
            name=_("Question"),
            icon="chat",
            series="ca-s6",
            start_ms=0,
            ms=total,
            level=1,
            total_ms=total,
        )
    ]
    calls = 0
    for place, run in enumerate(turn.runs):
        for row in _rows_of(run, offsets[place], lengths[place], total=total, calls=calls):
            calls += row.icon == "copilot"
            rows.append(row)
        if run.call is not None:
            end = offsets[place] + lengths[place]
            following = offsets[place + 1] if place + 1 < len(offsets) else end
            rows.append(
                TraceRow(
                    name=_describe_call(run),
                    icon="table",
                    series="ca-s2",
                    start_ms=end,
                    ms=max(following - end, 0),
                    total_ms=total,
                )
            )
    first = turn.runs[0].row.ttft_ms
    return Trace(
        total_ms=total,
        first_ms=first,
        rows=rows,
        runs=[_trace_run(number, run) for number, run in enumerate(turn.runs, start=1)],
    )


def rebuild_prompt(request: Any, run: Run) -> Sequence[tuple[str, str]] | None:
    """Return the messages that the model got, as (role, text), rebuilt from what is stored.

    Args:
        request: The stored request with its messages.
        run: Its row, with the version that answered.

    Returns:
        None if the version is gone or the request can't be read.
    """
    version = run.copilot_version
    if version is None:
        return None
    provider = ProviderSpec(name="", kind=DemoModel.kind)  # nothing is sent
    spec = spec_from_document(run.copilot.slug, version.document, provider)
    try:
        query = parse_query(request)
    except UnusableQuery:
        return None
    asked = AnswerRequest(
        spec=spec,
        query=query,
        provider=DemoModel(provider),
        now=run.started_at,
        trace_id="",
        signing_key=b"",
    )
    left = MAX_PROMPT_CHARACTERS
    messages = []
    for message in model_messages(asked, query):
        text = message.text[: max(left, 0)]
        left -= len(text)
        messages.append((message.role.value, text))
    return messages


def _length(run: RunView) -> int:
    if run.row.ms is not None:
        return run.row.ms
    return max(round((timezone.now() - run.row.started_at).total_seconds() * 1000), 1)


def _rows_of(
    run: RunView, offset: int, length: int, *, total: int, calls: int
) -> Iterator[TraceRow]:
    """Yield model calls and tools in turn: a tool's event comes when it has ended."""
    tools = [one for one in run.events if one.type in (EventType.TOOL, EventType.COMPONENT)]
    at, wait = 0, run.row.ttft_ms or 0
    is_failed = bool(run.row.error)
    for event in sorted(tools, key=lambda one: one.at_ms):
        ms = _tool_ms(event)
        start = max(event.at_ms - ms, at)
        if start > at:
            calls += 1
            yield _model_row(
                calls, offset + at, start - at, wait=min(wait, start - at), total=total
            )
            wait = 0
        payload = event.payload or {}
        error = bool(payload.get("error"))
        yield TraceRow(
            name=str(payload.get("name") or _("Tool")),
            icon="fail" if error else "tool",
            series="ca-s-bad" if error else "ca-s3",
            start_ms=offset + start,
            ms=event.at_ms - start,
            total_ms=total,
        )
        at = event.at_ms
    if length > at:
        yield _model_row(
            calls + 1,
            offset + at,
            length - at,
            wait=min(wait, length - at),
            total=total,
            is_failed=is_failed,
        )


def _model_row(
    number: int, start: int, ms: int, *, wait: int, total: int, is_failed: bool = False
) -> TraceRow:
    return TraceRow(
        name=_("Model call %(number)s") % {"number": number},
        icon="copilot",
        series="ca-s-bad" if is_failed else "ca-s1",
        start_ms=start,
        ms=ms,
        wait_ms=wait,
        total_ms=total,
    )


def _tool_ms(event: EventView) -> int:
    ms = (event.payload or {}).get("ms")
    return ms if isinstance(ms, int) else 0


def _describe_call(run: RunView) -> str | Promise:
    function = run.call.function if run.call else ""
    if function == "get_widget_data":
        return _("Widget data")
    return function or _("Workspace")


def _trace_run(number: int, run: RunView) -> RunTrace:
    notes = [str(note) for note in run.row.notes]
    words = [note for note in notes if note.startswith(PROVIDER_WORDS)]
    return RunTrace(
        number=number,
        run=run,
        provider_words=words[0].removeprefix(PROVIDER_WORDS) if words else "",
        notes=[note for note in notes if note not in words],
    )
