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
from copilot_admin.models import Conversation, Copilot, Outcome, TestCase, Turn
from copilot_admin.transcripts.queries import (
    MessageView,
    RunView,
    Tree,
    TurnView,
    attempts_of,
    read_request,
    read_tree,
    read_turns,
)
from protocol.functions import WIDGET_DATA_FUNCTIONS
from protocol.json import Json, JsonObject, list_of, object_of, objects_of

MAX_TURNS = 200  # of one selection; each may have some MB of data
ROLES = ("human", "ai")
PLACES = ("primary", "secondary", "extra")
_TEXTS = ("name", "description", "uuid", "origin", "category")


class SaveStatus(TextChoices):
    """Outcome of saving a turn as a test case."""

    SAVED = "saved", _("Saved.")
    SAVED_BEFORE = "saved-before", _("This question is already a test case.")
    NOT_KEPT = "not-kept", _("The question was not stored.")
    RUNNING = "running", _("It is still being answered. Save it afterwards.")
    COPILOT_AWAY = "copilot-away", _("The copilot is archived or being deleted.")
    REFUSED = "refused", ""
    GONE = "gone", _("It no longer exists.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveResult:
    """Outcome of saving one turn.

    Attributes:
        case: Id of the test case, also of one that was saved before.
        error: The reason why it isn't a valid test case.
    """

    conversation: int
    turn: int
    copilot: int = 0
    status: SaveStatus
    case: int | None = None
    error: str = ""

    @property
    def sentence(self) -> str:
        """Return the outcome as text."""
        return self.error or str(self.status.label)


def select_turns(conversations: Iterable[int], *, only_bad: bool) -> list[tuple[int, int]]:
    """Return the turns of some conversations, newest first, at most `MAX_TURNS` and one more.

    Args:
        conversations: Their ids.
        only_bad: Only turns with a thumb down.

    Returns:
        Ids of conversations and turns.
    """
    turns = Turn.objects.filter(conversation__in=list(conversations), human_node__isnull=False)
    if only_bad:
        turns = turns.filter(feedback__value__lt=0).distinct()
    newest = turns.order_by("-conversation_id", "id").values_list("conversation_id", "pk")
    return list(newest[: MAX_TURNS + 1])


def save_turns(turns: Sequence[tuple[int, int]], *, label: str = "") -> Iterator[SaveResult]:
    """Save turns as test cases, each in a separate transaction.

    Args:
        turns: Ids of conversations and turns; those of a conversation follow each other.
        label: Label of the new test cases.
    """
    tree: Tree | None = None
    conversation: Conversation | None = None
    for conversation_id, turn in turns:
        if conversation is None or conversation.pk != conversation_id:
            rows = Conversation.objects.select_related("copilot")
            conversation = rows.filter(pk=conversation_id).first()
            tree = read_tree(conversation) if conversation else None
        if conversation is None or tree is None:
            yield SaveResult(conversation=conversation_id, turn=turn, status=SaveStatus.GONE)
            continue
        yield _save_turn(conversation, tree, turn, label=label)


def _save_turn(conversation: Conversation, tree: Tree, turn: int, *, label: str) -> SaveResult:
    copilot = conversation.copilot
    result = partial(SaveResult, conversation=conversation.pk, turn=turn, copilot=copilot.pk)
    if copilot.is_archived or copilot.is_being_deleted:
        return result(status=SaveStatus.COPILOT_AWAY)
    same = TestCase.objects.filter(source_turn=turn, copilot=copilot)
    if (known := same.values_list("pk", flat=True).first()) is not None:
        return result(status=SaveStatus.SAVED_BEFORE, case=known)
    path = [place.id for place in tree.path_to(turn)]
    views = read_turns(conversation, tree, path)
    asked = views.get(turn)
    if asked is None:
        return result(status=SaveStatus.GONE)
    if asked.question is None or not asked.question.text.strip():
        return result(status=SaveStatus.NOT_KEPT)
    if any(run.row.outcome == Outcome.RUNNING for run in asked.runs):
        return result(status=SaveStatus.RUNNING)
    try:
        case = _make_case(conversation, [views[one] for one in path], label=label)
        status, pk = _save_case(case)
    except ConfigurationError as error:
        return result(status=SaveStatus.REFUSED, error=error.public)
    return result(status=status, case=pk)


def _make_case(conversation: Conversation, path: Sequence[TurnView], *, label: str) -> TestCase:
    turn = path[-1]
    stored = [run.id for run in turn.runs if run.has_request]
    entry = parse_case(make_entry(path, read_request(stored[0]) if stored else None, label=label))
    attempts = attempts_of(turn.runs)
    case = TestCase(
        copilot=conversation.copilot,
        origin=conversation.origin or conversation.pk,
        source_turn=turn.id,
        recorded_answer="".join(run.answer for run in attempts[-1]) if attempts else "",
    )
    fill_case(case, entry.row())
    return case


def _save_case(case: TestCase) -> tuple[SaveStatus, int]:
    with transaction.atomic():
        # If two people save the same question, the second waits and finds the first one's row.
        Copilot.objects.select_for_update(of=("self",), no_key=True).get(pk=case.copilot_id)
        same = TestCase.objects.filter(copilot=case.copilot_id, digest=case.digest)
        if (known := same.values_list("pk", flat=True).first()) is not None:
            return SaveStatus.SAVED_BEFORE, known
        return SaveStatus.SAVED, save_last(case).pk


def make_entry(path: Sequence[TurnView], request: Json, *, label: str = "") -> dict[str, Any]:
    """Return a turn as a test case of a copilot file; unsupported parts are left out.

    Args:
        path: The turns down to the question, which is the last.
        request: The stored request; None if it wasn't stored.
        label: Label of the test case.
    """
    asked = read_question(path, request)
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
        "results": {name: data for run in path[-1].runs for name, data in _read_results(run)},
    }
    return {key: value for key, value in entry.items() if value}


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


def _read_results(run: RunView) -> Iterator[tuple[str, list[JsonObject]]]:
    for message in (*run.received, *(run.call.results if run.call else ())):
        data = message.data or {}
        function = data.get("function")
        if isinstance(function, str) and function not in WIDGET_DATA_FUNCTIONS:
            yield function, objects_of(data.get("data"))


def read_question(path: Sequence[TurnView], request: Json) -> JsonObject:
    """Return a stored question with earlier messages, data and options, for the playground.

    Args:
        path: The turns down to the question, which is the last.
        request: The stored request without messages and secrets; None if it wasn't stored.
    """
    *before, turn = path
    asked = request if isinstance(request, Mapping) else {}
    found = dict(_read_data(turn))
    options = asked.get("workspace_options")
    return {
        "question": turn.question.text if turn.question else "",
        "earlier": [*(message for one in before for message in _messages(one)), *_history(turn)],
        "widgets": list(_widgets(asked.get("widgets"), found)),
        "options": options if isinstance(options, Mapping) else {},
        "tools": objects_of(asked.get("tools")),
        "skills": objects_of(asked.get("skills_catalog")),
        "timezone": str(asked.get("timezone") or "UTC"),
        "model": asked["model"] if isinstance(asked.get("model"), str) else "",
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


def _widgets(widgets: Json, found: Mapping[str, Sequence[Json]]) -> Iterator[JsonObject]:
    places = widgets if isinstance(widgets, Mapping) else {}
    for place in PLACES:
        for widget in objects_of(places.get(place)):
            uuid, name = str(widget.get("uuid", "")), str(widget.get("widget_id", ""))
            items = found.get(uuid) or found.get(name) or ()
            yield {"widget": widget, "place": place, "items": list(items)}


def _read_data(turn: TurnView) -> Iterator[tuple[str, Sequence[Json]]]:
    for run in turn.runs:
        results = (*run.received, *(run.call.results if run.call else ()))
        for message in results:
            yield from _read_sources(message)


def _read_sources(message: MessageView) -> Iterator[tuple[str, Sequence[Json]]]:
    data = message.data or {}
    arguments = data.get("input_arguments")
    asked = arguments.get("data_sources") if isinstance(arguments, Mapping) else None
    for source, result in zip(objects_of(asked), list_of(data.get("data")), strict=False):
        items = result.get("items") if isinstance(result, Mapping) else None
        if isinstance(items, list):
            yield from (
                (str(source[key]), items) for key in ("id", "widget_uuid") if source.get(key)
            )
