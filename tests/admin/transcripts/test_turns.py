"""Paths through the branches of a conversation, attempts at an answer, raw events and outcomes."""

from typing import Any
from uuid import UUID

import pytest

from copilot_admin.admin.transcripts.outcomes import present_outcome
from copilot_admin.admin.transcripts.raw import raw_events
from copilot_admin.admin.transcripts.turns import (
    Siblings,
    choose_path,
    find_siblings,
    group_by_parent,
)
from copilot_admin.models import EventType, Outcome, Turn, TurnState
from copilot_admin.transcripts.queries import RunView, TurnView, attempts_of
from tests.admin.blocks.test_blocks import NOW, call, event, message, run, step


def ids(attempts: tuple[tuple[RunView, ...], ...]) -> list[list[UUID]]:
    return [[one.id for one in attempt] for attempt in attempts]


def test_a_call_and_its_answer_are_one_attempt():
    result = message(1)
    first = run(call=call(result))
    second = run("a", received=(result,))
    assert ids(attempts_of([first, second])) == [[first.id, second.id]]


def test_an_answer_regenerated_after_a_call_keeps_the_call():
    result = message(1)
    first = run(call=call(result))
    second, third = run("a", received=(result,)), run("b", received=(result,))
    assert ids(attempts_of([first, second, third])) == [
        [first.id, second.id],
        [first.id, third.id],
    ]


def test_asking_again_from_the_question_is_another_attempt():
    first, second = run("a"), run("b")
    assert ids(attempts_of([first, second])) == [[first.id], [second.id]]


def turn(number: int, parent: int | None = None, **changes: Any) -> TurnView:
    fields: dict[str, Any] = {"state": TurnState.DONE.value, "parent_id": parent, "runs": ()}
    fields |= {"level": 0, "branch": 1, "branches": 1, **changes}
    return TurnView(row=Turn(pk=number, started_at=NOW), **fields)


#  1 ── 2 ── 3
#   └── 4 ── 5
#        └── 6
TREE = [turn(1), turn(2, 1), turn(3, 2), turn(4, 1), turn(5, 4), turn(6, 4)]


@pytest.mark.parametrize(
    ("through", "path"),
    [(None, [1, 4, 6]), (2, [1, 2, 3]), (5, [1, 4, 5]), (1, [1, 4, 6]), (99, [1, 4, 6])],
)
def test_the_path_goes_through_the_chosen_turn_and_the_newest_after_it(through, path):
    assert [one.id for one in choose_path(TREE, through=through)] == path


def test_versions_of_a_question_lead_to_each_other():
    children = group_by_parent(TREE)
    assert find_siblings(TREE[1], children) == Siblings(place=1, number=2, earlier=None, later=4)
    assert find_siblings(TREE[3], children) == Siblings(place=2, number=2, earlier=2, later=None)
    assert find_siblings(TREE[0], children) is None


def test_raw_events_are_named_as_on_the_wire_with_the_text_between_them():
    found = list(
        raw_events(
            run(
                "Hello",
                event(EventType.STATUS, step("one"), at=2, ord=0),
                event(EventType.TOOL, {"name": "x"}, at=2, ord=1),
                event(EventType.CITATION, {"citations": []}, at=5, ord=2),
            )
        )
    )
    assert [(one.name, one.type, one.at_ms) for one in found] == [
        ("copilotMessageChunk", "text", None),
        ("copilotStatusUpdate", "status", 10),
        ("", "tool", 10),
        ("copilotMessageChunk", "text", None),
        ("copilotCitationCollection", "citation", 10),
    ]
    assert found[0].text == '{\n  "delta": "He"\n}'
    assert found[3].data == {"delta": "llo"}


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_has_a_word_and_a_shape(outcome: Outcome):
    shown = present_outcome(outcome)
    assert shown.label != outcome.value
    assert shown.tone in ("good", "warn", "bad", "info", "muted")
