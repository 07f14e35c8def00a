"""The stand-in for Workspace chokes where Workspace does."""

import pytest

from tests.workspace.screen import Screen
from tests.workspace.stream import Choked, events_of

CHUNK = b'event: copilotMessageChunk\ndata: {"delta": "x"}'


@pytest.mark.parametrize("end", [b"\n\n", b"\r\r", b"\r\n\r\n"])
def test_blocks_end_in_three_ways_and_comments_are_passed_over(end):
    assert events_of(b": ping" + end + CHUNK + end) == [("copilotMessageChunk", {"delta": "x"})]


def test_several_lines_of_data_are_joined():
    stream = b'event: copilotMessageChunk\ndata: {"delta":\ndata: "x"}\n\n'
    assert events_of(stream) == [("copilotMessageChunk", {"delta": "x"})]


@pytest.mark.parametrize(
    ("stream", "why"),
    [
        (CHUNK, "thrown away"),
        (b"event: copilotMessageChunk\ndata: {\n\n", "not JSON"),
        (b"event: telepathy\ndata: {}\n\n", "ignored"),
        ('data: {"delta": "a\u2028b"}\n\n'.encode(), "cut off"),
        (b"data: {}\n\n", "ignored"),
    ],
)
def test_what_the_front_end_would_lose_is_refused(stream, why):
    with pytest.raises(Choked, match=why):
        events_of(stream)


def step(message: str, **more: object) -> tuple[str, dict[str, object]]:
    data = {"eventType": "INFO", "message": message, "group": "reasoning", **more}
    return "copilotStatusUpdate", data


def words(text: str) -> tuple[str, dict[str, object]]:
    return "copilotMessageChunk", {"delta": text}


def test_a_step_ends_a_bubble_and_a_hidden_one_does_not():
    screen = Screen()
    details = [{"Source": "hidden", "copilot": "News"}, "plain words"]
    screen.take(
        [
            words("a"),
            step("Busy", hidden=True),
            words("b"),
            step("Done", details=details),
            words("c"),
        ]
    )
    assert screen.shown == ["ab", ("INFO", "Done", [{"copilot": "News"}, "plain words"]), "c"]
    assert screen.loading


def test_artifacts_and_citations_stand_where_they_came():
    screen = Screen()
    screen.take(
        [
            words("a "),
            ("copilotMessageArtifact", {"name": "Prices 1"}),
            words(" b"),
            ("copilotCitationCollection", {"citations": [{"id": "c1"}]}),
            ("copilotPromptSuggestions", {"suggestions": ["More?"]}),
        ]
    )
    assert screen.shown == ['a <artifact className="Prices 1"/> b<citation className="c1"/>']
    assert screen.suggestions == ["More?"]


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([step("Broken", eventType="ERROR")], "deletes the last question"),
        ([step("Busy", group="status")], "nobody shows the group"),
        ([("copilotMessageArtifact", {"name": "P"})] * 2, "two artifacts"),
        ([("copilotPromptSuggestions", {"suggestions": []}), words("x")], "comes behind"),
        ([("copilotFunctionCall", {}), words("x")], "comes behind"),
    ],
)
def test_what_the_front_end_would_show_wrongly_is_refused(events, why):
    with pytest.raises(Choked, match=why):
        Screen().take(events)
