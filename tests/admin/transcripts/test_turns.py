"""Paths through the branches of a conversation, attempts at an answer, raw events and outcomes."""

import pytest

from copilot_admin.admin.transcripts.conversation_page import choose_path
from copilot_admin.admin.transcripts.raw import raw_events
from copilot_admin.models import EventType, Turn
from copilot_admin.transcripts.queries.reading import attempts_of
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace
from tests.admin.blocks.test_blocks import call, event, message, run, step


def test_attempts_share_the_call_before_a_regenerated_answer():
    result = message(1)
    first = run(call=call(result))
    second, third = run("a", received=(result,)), run("b", received=(result,))
    again = run("c")  # from the question
    found = attempts_of([first, second, third, again])
    assert found == ((first, second), (first, third), (again,))


def place(number: int, parent: int | None, branch: int, branches: int) -> TurnPlace:
    return TurnPlace(Turn(pk=number), parent, level=0, branch=branch, branches=branches, history=())


#  1 ── 2 ── 3
#   └── 4 ── 5
#        └── 6
PLACES = [
    *(place(1, None, 1, 1), place(2, 1, 1, 2), place(3, 2, 1, 1)),
    *(place(4, 1, 2, 2), place(5, 4, 1, 2), place(6, 4, 2, 2)),
]
TREE = Tree.__new__(Tree)  # without a database
TREE.places = PLACES


@pytest.mark.parametrize(
    ("through", "path"),
    [(None, [1, 4, 6]), (2, [1, 2, 3]), (5, [1, 4, 5]), (1, [1, 4, 6]), (99, [1, 4, 6])],
)
def test_the_path_goes_through_the_chosen_turn_and_the_newest_after_it(through, path):
    assert [one.id for one in choose_path(TREE, through=through)] == path


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
