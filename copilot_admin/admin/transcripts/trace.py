"""Trace of a turn: a waterfall of model calls, tools and widget data, and the prompt of a run."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from copilot_admin.agent.prompt.conversation import model_messages
from copilot_admin.agent.providers.demo import DemoModel
from copilot_admin.agent.values.answer_request import AnswerRequest
from copilot_admin.agent.values.spec import ProviderSpec, spec_from_document
from copilot_admin.models import EventType, Run
from copilot_admin.transcripts.queries.reading import RunView, TurnView
from protocol.json import integer_of
from protocol.parsing import UnusableQuery, parse_query

MAX_PROMPT_CHARACTERS = 100_000
PROVIDER_WORDS = "The provider's words: "


def build_trace(turn: TurnView) -> dict[str, Any]:
    """Return the bars of a turn, and its requests with their notes and the provider's errors."""
    if not turn.runs:
        return {"total_ms": 0, "first_ms": None, "rows": [], "runs": []}
    began = turn.runs[0].row.started_at
    starts = [round((run.row.started_at - began).total_seconds() * 1000) for run in turn.runs]
    ends = [start + _measure(run) for start, run in zip(starts, turn.runs, strict=True)]
    waterfall = _Waterfall(max(ends))
    for run, start, end, following in zip(turn.runs, starts, ends, [*starts[1:], 0], strict=True):
        waterfall.add_run(run, start, end)
        if run.call is not None:
            name = run.call.function or _("Workspace")
            name = _("Widget data") if name == "get_widget_data" else name
            waterfall.add(name, "table", "ca-s2", end, max(following, end))
    return {
        "total_ms": waterfall.total_ms,
        "first_ms": turn.runs[0].row.ttft_ms,
        "rows": waterfall.rows,
        "runs": [(run, *_split_notes(run)) for run in turn.runs],
    }


class _Waterfall:
    """The bars of a turn, one below the other; times are in milliseconds since the question."""

    def __init__(self, total_ms: int) -> None:
        self.total_ms = total_ms
        self.rows: list[dict[str, Any]] = []
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
        """Add a bar; `wait_ms` is the time before the first word, at its beginning."""
        wait_ms = min(wait_ms, end - start)
        self.rows.append(
            {
                "name": name,
                "icon": icon,
                "series": series,
                "level": level,
                "ms": end - start,
                "wait_ms": wait_ms,
                "start": self._percent(start),
                "wait": self._percent(wait_ms),
                "after_wait": self._percent(start + wait_ms),
                "width": self._percent(max(end - start - wait_ms, self.total_ms // 100)),
            }
        )

    def add_run(self, run: RunView, start: int, end: int) -> None:
        """Add model calls and tools in turn: a tool's event comes when it has ended."""
        tools = [one for one in run.events if one.type in (EventType.TOOL, EventType.COMPONENT)]
        at, wait_ms = start, run.row.ttft_ms or 0
        for event in sorted(tools, key=lambda one: one.at_ms):
            payload, ended = event.payload or {}, start + event.at_ms
            began = max(ended - (integer_of(payload.get("ms")) or 0), at)
            if began > at:
                self._add_model_call(at, began, wait_ms)
                wait_ms = 0
            icon, series = ("fail", "ca-s-bad") if payload.get("error") else ("tool", "ca-s3")
            self.add(str(payload.get("name") or _("Tool")), icon, series, began, ended)
            at = ended
        if end > at:
            self._add_model_call(at, end, wait_ms, "ca-s-bad" if run.row.error else "ca-s1")

    def _add_model_call(self, start: int, end: int, wait_ms: int, series: str = "ca-s1") -> None:
        self._model_calls += 1
        name = _("Model call %(number)s") % {"number": self._model_calls}
        self.add(name, "copilot", series, start, end, wait_ms=wait_ms)

    def _percent(self, ms: int) -> str:
        return f"{100 * ms / max(self.total_ms, 1):.1f}%"


def _measure(run: RunView) -> int:
    if run.row.ms is not None:
        return run.row.ms
    return max(round((timezone.now() - run.row.started_at).total_seconds() * 1000), 1)


def _split_notes(run: RunView) -> tuple[str, list[str]]:
    """Return the provider's own error, and the other notes."""
    notes = [str(note) for note in run.row.notes]
    words = [note.removeprefix(PROVIDER_WORDS) for note in notes if note.startswith(PROVIDER_WORDS)]
    others = [note for note in notes if not note.startswith(PROVIDER_WORDS)]
    return (words[0] if words else ""), others


def rebuild_prompt(request: Any, run: Run) -> Sequence[tuple[str, str]] | None:
    """Return role and text of what the model got, rebuilt; None if a part of it is gone."""
    version = run.copilot_version
    if version is None:
        return None
    provider = ProviderSpec(name="", kind=DemoModel.kind)  # nothing is sent
    try:
        query = parse_query(request)
    except UnusableQuery:
        return None
    asked = AnswerRequest(
        spec=spec_from_document(run.copilot.slug, version.document, provider),
        query=query,
        provider=DemoModel(provider),
        now=run.started_at,
        trace_id="",
        signing_key=b"",
    )
    left = MAX_PROMPT_CHARACTERS
    messages = []
    for message in model_messages(asked):
        messages.append((message.role.value, message.text[: max(left, 0)]))
        left -= len(message.text)
    return messages
