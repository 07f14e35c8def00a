"""A turn as a saved question: what was asked with all it brought, and what was answered."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _

from copilot_admin.evaluation.replay import question_of
from copilot_admin.models import CostConfidence, Outcome, RecordedAnswer
from copilot_admin.pricing.cost import Cost, sum_costs
from copilot_admin.transcripts.queries import Attempt, RunView, TurnView, attempts_of
from protocol.functions import WIDGET_DATA_FUNCTIONS
from protocol.json import Json, JsonObject, object_of, objects_of

ANSWERED = (Outcome.COMPLETED, Outcome.TRUNCATED)
ROLES = ("human", "ai")
_TEXTS = ("name", "description", "uuid", "origin", "category")


def entry_of(path: Sequence[TurnView], request: Json, *, label: str = "") -> dict[str, Any]:
    """A turn as a copilot file has a question; what its form cannot hold is left out.

    Args:
        path: The turns down to the question, which is the last.
        request: What came with it; None: not kept.
        label: Under which it is kept.
    """
    asked = question_of(path, request)
    entry = {
        "question": asked["question"],
        "label": label,
        "earlier": [one for one in objects_of(asked["earlier"]) if one["role"] in ROLES],
        "widgets": [_widget(one) for one in objects_of(asked["widgets"]) if _has_id(one)],
        "options": {
            key: value
            for key, value in object_of(asked["options"]).items()
            if isinstance(value, (bool, str))
        },
        "tools": asked["tools"],
        "timezone": asked["timezone"],
        "model": asked["model"],
        "results": dict(_results(path[-1])),
    }
    return {key: value for key, value in entry.items() if value}


def answer_of(turn: TurnView, *, conversation: int) -> RecordedAnswer | None:
    """What was answered last, as the baseline of later answers; None: nothing was begun.

    Args:
        turn: The question with its runs.
        conversation: Its id.
    """
    attempts = attempts_of(turn.runs)
    if not attempts:
        return None
    attempt = attempts[-1]
    last, cost = attempt[-1], _cost(attempt)
    return RecordedAnswer(
        conversation=conversation,
        turn=turn.id,
        text="".join(run.answer for run in attempt),
        failure=_failure(last),
        provider=last.row.provider,
        model=last.row.model,
        version_number=last.version,
        ttft_ms=last.row.ttft_ms,
        ms=sum(run.row.ms or 0 for run in attempt),
        input_tokens=sum(run.row.input_tokens for run in attempt),
        output_tokens=sum(run.row.output_tokens for run in attempt),
        cost=cost.amount,
        cost_is_estimated=cost.confidence == CostConfidence.ESTIMATED,
        answered_at=last.row.started_at,
    )


def _failure(last: RunView) -> str:
    if last.row.outcome not in ANSWERED:
        return last.row.error or last.row.outcome
    return _("The client never sent the data that was asked for.") if last.call else ""


def is_running(turn: TurnView) -> bool:
    return any(run.row.outcome == Outcome.RUNNING for run in turn.runs)


def _cost(attempt: Attempt) -> Cost:
    return sum_costs(Cost(run.row.cost, CostConfidence(run.row.cost_confidence)) for run in attempt)


def _widget(placed: JsonObject) -> dict[str, Any]:
    widget, items = object_of(placed["widget"]), objects_of(placed["items"])
    columns = widget.get("columns")
    texts = {key: widget[key] for key in _TEXTS if isinstance(widget.get(key), str)}
    return {
        **{key: str(value)[: 200 if key == "name" else None] for key, value in texts.items()},
        "id": widget["widget_id"],
        "place": placed["place"],
        "columns": [one for one in columns if isinstance(one, str)]
        if isinstance(columns, list)
        else [],
        "params": objects_of(widget.get("params")),
        **({"items": items} if items else {}),
    }


def _has_id(placed: JsonObject) -> bool:
    id = object_of(placed["widget"]).get("widget_id")
    return isinstance(id, str) and bool(id.strip())


def _results(turn: TurnView) -> Iterator[tuple[str, list[JsonObject]]]:
    for run in turn.runs:
        yield from _brought(run)


def _brought(run: RunView) -> Iterator[tuple[str, list[JsonObject]]]:
    for message in (*run.received, *(run.call.results if run.call else ())):
        data = message.data or {}
        function = data.get("function")
        if isinstance(function, str) and function not in WIDGET_DATA_FUNCTIONS:
            yield function, objects_of(data.get("data"))
