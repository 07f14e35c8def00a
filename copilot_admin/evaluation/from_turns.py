"""Test cases from turns of conversations, and stored questions for the playground."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from copilot_admin.copilots.test_cases import fill_case
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.questions import parse_case, save_last
from copilot_admin.models import Conversation, Copilot, Node, Outcome, TestCase, Turn
from copilot_admin.transcripts.queries.reading import (
    TurnView,
    attempts_of,
    read_request,
    read_turns,
)
from copilot_admin.transcripts.queries.tree import Tree
from protocol.functions import WIDGET_DATA_FUNCTIONS
from protocol.json import Json, JsonObject, list_of, object_of, objects_of, text_of

MAX_TURNS = 200  # of one selection; each may have some MB of data
MAX_NAME_LENGTH = 200  # of a widget
ROLES = ("human", "ai")
PLACES = ("primary", "secondary", "extra")
_TEXTS = ("name", "description", "uuid", "origin", "category")


class SaveStatus(TextChoices):
    SAVED = "saved", _("Saved.")
    SAVED_BEFORE = "saved-before", _("This question is already a test case.")
    NOT_KEPT = "not-kept", _("The question was not stored.")
    RUNNING = "running", _("It is still being answered. Save it afterwards.")
    COPILOT_AWAY = "copilot-away", _("The copilot is archived or being deleted.")
    REFUSED = "refused", ""
    GONE = "gone", _("It no longer exists.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveResult:
    """Outcome of saving one turn; `case` is also the id of a test case that was saved before."""

    conversation: int
    turn: int
    copilot: int = 0
    status: SaveStatus
    case: int | None = None
    error: str = ""

    @property
    def sentence(self) -> str:
        return self.error or str(self.status.label)


def select_turns(conversations: Iterable[int], *, only_bad: bool) -> list[tuple[int, int]]:
    """Return ids of conversations and turns, newest first, at most `MAX_TURNS` and one more."""
    turns = Turn.objects.filter(conversation__in=list(conversations), human_node__isnull=False)
    if only_bad:
        turns = turns.filter(feedback__value__lt=0).distinct()
    newest = turns.order_by("-conversation_id", "id").values_list("conversation_id", "pk")
    return list(newest[: MAX_TURNS + 1])


def save_turns(turns: Sequence[tuple[int, int]], *, label: str = "") -> Iterator[SaveResult]:
    """Save turns, grouped by conversation, as test cases, each in a separate transaction."""
    conversation, tree = None, None
    for pk, turn in turns:
        if conversation is None or conversation.pk != pk:
            conversation = Conversation.objects.select_related("copilot").filter(pk=pk).first()
            tree = Tree(conversation) if conversation else None
        if conversation is None or tree is None:
            yield SaveResult(conversation=pk, turn=turn, status=SaveStatus.GONE)
        else:
            yield _save_turn(conversation, tree, turn, label)


def _save_turn(conversation: Conversation, tree: Tree, turn: int, label: str) -> SaveResult:
    copilot = conversation.copilot
    result = partial(SaveResult, conversation=conversation.pk, turn=turn, copilot=copilot.pk)
    if copilot.is_archived or copilot.is_being_deleted:
        return result(status=SaveStatus.COPILOT_AWAY)
    same = TestCase.objects.filter(source_turn=turn, copilot=copilot)
    if (known := same.values_list("pk", flat=True).first()) is not None:
        return result(status=SaveStatus.SAVED_BEFORE, case=known)
    ids = [place.id for place in tree.path_to(turn)]
    views = read_turns(conversation, tree, ids)
    asked = views.get(turn)
    if asked is None:
        return result(status=SaveStatus.GONE)
    if asked.question is None or not asked.question.text.strip():
        return result(status=SaveStatus.NOT_KEPT)
    if any(run.row.outcome == Outcome.RUNNING for run in asked.runs):
        return result(status=SaveStatus.RUNNING)
    attempts = attempts_of(asked.runs)
    case = TestCase(
        copilot=copilot,
        origin=conversation.origin or conversation.pk,
        source_turn=turn,
        recorded_answer="".join(run.answer for run in attempts[-1]) if attempts else "",
    )
    try:
        fill_case(case, parse_case(_make_entry([views[one] for one in ids], label)).row())
        status, pk = _save_case(case)
    except ConfigurationError as error:
        return result(status=SaveStatus.REFUSED, error=error.public)
    return result(status=status, case=pk)


def _save_case(case: TestCase) -> tuple[SaveStatus, int]:
    with transaction.atomic():
        # If two people save the same question, the second waits and finds the first one's row.
        Copilot.objects.select_for_update(of=("self",), no_key=True).get(pk=case.copilot_id)
        same = TestCase.objects.filter(copilot=case.copilot_id, digest=case.digest)
        if (known := same.values_list("pk", flat=True).first()) is not None:
            return SaveStatus.SAVED_BEFORE, known
        return SaveStatus.SAVED, save_last(case).pk


def _make_entry(path: Sequence[TurnView], label: str) -> dict[str, Any]:
    """Return a turn as a test case of a copilot file; unsupported parts are left out."""
    asked = read_question(path)
    entry = {
        **{key: asked[key] for key in ("question", "tools", "timezone", "model")},
        "label": label,
        "earlier": [one for one in asked["earlier"] if one["role"] in ROLES],
        "widgets": [
            _widget(one)
            for one in asked["widgets"]
            if text_of(one["widget"].get("widget_id")).strip()
        ],
        "options": {
            key: value for key, value in asked["options"].items() if isinstance(value, bool | str)
        },
        "results": {
            str(data["function"]): objects_of(data.get("data"))
            for data in (message.data or {} for message in _results(path[-1]))
            if text_of(data.get("function")) not in ("", *WIDGET_DATA_FUNCTIONS)
        },
    }
    return {key: value for key, value in entry.items() if value}


def _widget(placed: Mapping[str, Any]) -> dict[str, Any]:
    widget, items = placed["widget"], objects_of(placed["items"])
    texts = {key: widget[key] for key in _TEXTS if isinstance(widget.get(key), str)}
    if "name" in texts:
        texts["name"] = texts["name"][:MAX_NAME_LENGTH]
    return {
        **texts,
        "id": widget["widget_id"],
        "place": placed["place"],
        "columns": [one for one in list_of(widget.get("columns")) if isinstance(one, str)],
        "params": objects_of(widget.get("params")),
        **({"items": items} if items else {}),
    }


def read_question(path: Sequence[TurnView]) -> dict[str, Any]:
    """Return the question at the end of a path with its context and data, for the playground."""
    *before, turn = path
    stored = [run.id for run in turn.runs if run.has_request]
    request = object_of(read_request(stored[0]) if stored else None)
    return {
        "question": turn.question.text if turn.question else "",
        "earlier": [*(message for one in before for message in _messages(one)), *_history(turn)],
        "widgets": list(_widgets(object_of(request.get("widgets")), dict(_read_data(turn)))),
        "options": object_of(request.get("workspace_options")),
        "tools": objects_of(request.get("tools")),
        "skills": objects_of(request.get("skills_catalog")),
        "timezone": str(request.get("timezone") or "UTC"),
        "model": text_of(request.get("model")),
    }


def _messages(turn: TurnView) -> Iterator[JsonObject]:
    yield from _history(turn)
    if turn.question is not None:
        yield {"role": "human", "content": turn.question.text}
    answers = [run.answer for run in turn.runs if run.answer]
    if answers:
        yield {"role": "ai", "content": answers[-1]}


def _history(turn: TurnView) -> Iterator[JsonObject]:
    yield from ({"role": m.role, "content": m.text} for m in turn.history if m.kind == "text")


def _widgets(places: JsonObject, found: Mapping[str, Sequence[Json]]) -> Iterator[JsonObject]:
    for place in PLACES:
        for widget in objects_of(places.get(place)):
            uuid, name = str(widget.get("uuid", "")), str(widget.get("widget_id", ""))
            items = found.get(uuid) or found.get(name) or ()
            yield {"widget": widget, "place": place, "items": list(items)}


def _results(turn: TurnView) -> list[Node]:
    return [
        message
        for run in turn.runs
        for message in (*run.received, *(run.call.results if run.call else ()))
    ]


def _read_data(turn: TurnView) -> Iterator[tuple[str, Sequence[Json]]]:
    """Yield uuid or id of the widgets whose data came, with the data."""
    for message in _results(turn):
        data = message.data or {}
        sources = objects_of(object_of(data.get("input_arguments")).get("data_sources"))
        for source, result in zip(sources, list_of(data.get("data")), strict=False):
            items = object_of(result).get("items")
            if isinstance(items, list):
                yield from (
                    (str(source[key]), items) for key in ("id", "widget_uuid") if source.get(key)
                )
