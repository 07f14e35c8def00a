"""What an event holds is weighed as it is: dataclasses are opened, JSON is left to who weighs it."""

import pytest

from protocol.events import (
    Citation,
    CitationCollection,
    MessageChunk,
    PromptSuggestions,
    StatusUpdate,
)
from protocol.weights import is_heavy, values_of

SOURCE, PLACE = {"type": "web"}, ({"page": 1},)
CITATION = Citation(id="c", source_info=SOURCE, quote_bounding_boxes=(PLACE,))


@pytest.mark.parametrize(
    ("whole", "held"),
    [
        (MessageChunk("Hello"), ["Hello"]),
        (PromptSuggestions(("Why?",)), [("Why?",)]),
        (CitationCollection(()), [()]),
        (CitationCollection((CITATION,)), ["c", SOURCE, (), (PLACE,)]),
        (("a", 1), [("a", 1)]),
    ],
    ids=repr,
)
def test_dataclasses_are_opened_wherever_they_stand_and_nothing_else(whole, held):
    assert sorted(map(repr, values_of(whole))) == sorted(map(repr, held))


@pytest.mark.parametrize(
    ("output", "heavy"),
    [
        # Besides its rows a step has five fields, the words "reasoning" and what it lists.
        (StatusUpdate(message="", details=({},) * (1000 - 8)), False),
        (StatusUpdate(message="", details=({},) * 1000), True),
        (StatusUpdate(message="x" * 64 * 1000), True),
        (MessageChunk("x" * 64 * 2 * 1000), False),
        ("x" * 64 * 2 * 1000, False),
    ],
    ids=["few rows", "many rows", "a long text", "a piece of an answer", "no event"],
)
def test_an_event_of_many_values_is_heavy_and_a_piece_of_an_answer_never(output, heavy):
    assert is_heavy(output) is heavy
