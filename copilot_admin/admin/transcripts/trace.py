"""Trace of a turn: a waterfall of model calls, tools and widget data, and the facts of each request."""

from collections.abc import Sequence
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
from copilot_admin.models import Event, EventType, Run
from copilot_admin.transcripts.queries import RunView, TurnView
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
    starts = [round((run.row.started_at - began).total_seconds() * 1000) for run in turn.runs]
    ends = [start + _length(run) for start, run in zip(starts, turn.runs, strict=True)]
    waterfall = _Waterfall(max(ends))
    for run, start, end, following in zip(turn.runs, starts, ends, [*starts[1:], 0], strict=True):
        waterfall.add_run(run, start, end)
        if run.call is not None:
            name = _describe_call(run.call.function)
            waterfall.add(name, "table", "ca-s2", end, max(following, end))
    return Trace(
        total_ms=waterfall.total_ms,
        first_ms=turn.runs[0].row.ttft_ms,
        rows=waterfall.rows,
        runs=[_trace_run(number, run) for number, run in enumerate(turn.runs, start=1)],
    )


class _Waterfall:
    """The bars of a turn, one below the other."""

    def __init__(self, total_ms: int) -> None:
        self.total_ms = total_ms
        self.rows: list[TraceRow] = []
        self._model_calls = 0
        self.add(_("Question"), "chat", "ca-s6", 0, total_ms, level=1)

    def add(
        self,
        name: str | Promise,
        icon: str,
        series: str,
        start: int,
        end: int,
        *,
        wait_ms: int = 0,
        level: int = 2,
    ) -> None:
        self.rows.append(
            TraceRow(
                name=name,
                icon=icon,
                series=series,
                start_ms=start,
                ms=end - start,
                wait_ms=min(wait_ms, end - start),
                level=level,
                total_ms=self.total_ms,
            )
        )

    def add_run(self, run: RunView, start: int, end: int) -> None:
        """Add model calls and tools in turn: a tool's event comes when it has ended."""
        tools = [one for one in run.events if one.type in (EventType.TOOL, EventType.COMPONENT)]
        at, wait_ms = start, run.row.ttft_ms or 0
        for event in sorted(tools, key=lambda one: one.at_ms):
            ended = start + event.at_ms
            began = max(ended - _tool_ms(event), at)
            if began > at:
                self._add_model_call(at, began, wait_ms)
                wait_ms = 0
            payload = event.payload or {}
            icon, series = ("fail", "ca-s-bad") if payload.get("error") else ("tool", "ca-s3")
            self.add(str(payload.get("name") or _("Tool")), icon, series, began, ended)
            at = ended
        if end > at:
            self._add_model_call(at, end, wait_ms, is_failed=bool(run.row.error))

    def _add_model_call(
        self, start: int, end: int, wait_ms: int, *, is_failed: bool = False
    ) -> None:
        self._model_calls += 1
        name = _("Model call %(number)s") % {"number": self._model_calls}
        series = "ca-s-bad" if is_failed else "ca-s1"
        self.add(name, "copilot", series, start, end, wait_ms=wait_ms)


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


def _tool_ms(event: Event) -> int:
    ms = (event.payload or {}).get("ms")
    return ms if isinstance(ms, int) else 0


def _describe_call(function: str) -> str | Promise:
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
