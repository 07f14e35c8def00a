"""The stand-in for Workspace chokes where Workspace does."""

import pytest

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
