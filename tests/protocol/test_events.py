"""Laws of every event, also of some that nothing but their class knows, and events as bytes."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
import json
from typing import Any, ClassVar

from hypothesis import given
from hypothesis import strategies as st
import pytest

from protocol.events import Event, MessageChunk
from protocol.models import Generation
from protocol.serializers import payload, serialize
from protocol.sse import MAX_EVENT_BYTES, PING, Decoder, EventTooLarge, decode, encode, encode_chunk
from tests.protocol.examples import EVENT_CLASSES, as_workspace_reads, example_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Tomorrow(Event):
    """An event of a later release."""

    name: ClassVar[str] = "copilotTomorrow"

    title: str = ""
    app: dict
    refs: tuple[str, ...] = ()
    note: str | None = None
    order: int = 1


@dataclass(frozen=True, slots=True)
class Pause(Event):
    """An event that says nothing but its name."""

    name: ClassVar[str] = "copilotPause"


def nulls(value: Any) -> Iterator[None]:
    """Nulls outside of widget arguments and table cells, where the client's own belong."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key not in ("input_args", "content"):
                yield from nulls(member)
    elif isinstance(value, list):
        for element in value:
            yield from nulls(element)
    elif value is None:
        yield value


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "bare"])
@pytest.mark.parametrize("event", [*EVENT_CLASSES, Tomorrow, Pause])
class TestEveryEvent:
    @pytest.mark.parametrize("generation", Generation)
    def test_is_read_by_workspace_as_it_was_said(self, event, whole, generation):
        said = serialize(example_of(event, whole=whole), generation)
        sent = b"".join(encode(*one) for one in said)
        assert as_workspace_reads(sent) == list(said)

    @pytest.mark.parametrize("generation", Generation)
    def test_is_not_said_to_a_client_that_does_not_know_it(self, event, whole, generation):
        names = {name for name, _ in serialize(example_of(event, whole=whole), generation)}
        known = event.understood_since <= generation
        assert names <= {event.name if known else MessageChunk.name}

    def test_holds_no_null(self, event, whole):
        assert not list(nulls(payload(example_of(event, whole=whole))))


@pytest.mark.parametrize("event", [*EVENT_CLASSES, Tomorrow, Pause])
def test_generation_three_is_told_every_field(event):
    assert len(payload(example_of(event, whole=True))) == len(fields(event))


NAMES = st.sampled_from([event.name for event in EVENT_CLASSES])
TEXTS = st.text() | st.text(alphabet='a\u2028\u2029\r\n\x00\x1f\x85:{}"\\ü世😀\ufeff')
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
PAYLOADS = st.dictionaries(TEXTS, JSON, max_size=3)  # what matters is in each, not in how many


@given(NAMES, PAYLOADS)
def test_decoding_undoes_encoding(name: str, data: dict):
    [(read_name, text)] = decode(encode(name, data))
    assert (read_name, json.loads(text)) == (name, data)


@given(TEXTS)
def test_chunk_has_the_bytes_of_its_event(delta: str):
    assert encode_chunk(delta) == encode("copilotMessageChunk", {"delta": delta})


@given(st.lists(st.tuples(NAMES, PAYLOADS), max_size=3), st.data())
def test_pieces_may_break_anywhere(events: list, data: st.DataObject):
    stream = b"".join(encode(*event) for event in events)
    borders = data.draw(st.lists(st.integers(0, len(stream)), max_size=8).map(sorted))
    decoder, read = Decoder(), []
    for start, end in zip([0, *borders], [*borders, len(stream)], strict=True):
        read += decoder.feed(stream[start:end])
    assert [(name, json.loads(text)) for name, text in read] == events


@pytest.mark.parametrize(
    ("delta", "written"),
    [
        ("H", b'"H"'),
        ("Grüße 世界 😀", '"Grüße 世界 😀"'.encode()),
        ("\u2028\u2029", rb'"\u2028\u2029"'),
        ("\x00\x1f\n\r\t", rb'"\u0000\u001f\n\r\t"'),
        ("a\ud800b\udfff", rb'"a\ud800b\udfff"'),
        ("\x7f\x85\ufeff", '"\x7f\x85\ufeff"'.encode()),
        ('"\\', rb'"\"\\"'),
        ("", b'""'),
    ],
)
def test_text_is_written_raw_but_for_what_breaks_lines(delta: str, written: bytes):
    expected = b'event: copilotMessageChunk\ndata: {"delta":' + written + b"}\n\n"
    assert encode_chunk(delta) == expected
    assert encode("copilotMessageChunk", {"delta": delta}) == expected


def test_ping_is_a_comment_that_nobody_sees():
    assert decode(PING) == []
    assert as_workspace_reads(PING) == []
    assert decode(encode_chunk("a") + PING + encode_chunk("b")) == decode(
        encode_chunk("a") + encode_chunk("b")
    )


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: x\n\n", [("message", "x")]),
        (b"data:  x\n\n", [("message", " x")]),
        (b"event: e\ndata: x\r\n\r\n", [("e", "x")]),
        (b"event: e\rdata: x\r\r", [("e", "x")]),
        (b"\xef\xbb\xbfdata: x\n\n", [("message", "x")]),
        (b"\n\xef\xbb\xbfdata: x\n\n", []),
        (b"data: a\ndata: b\n\n", [("message", "a\nb")]),
        (b"data\ndata\n\n", [("message", "\n")]),
        (b"event: e\n\ndata: x\n\n", [("message", "x")]),
        (b"event: e\nevent: f\ndata: x\n\n", [("f", "x")]),
        (b": comment\nid: 1\nretry: 5\nnonsense\ndata: x\n\n", [("message", "x")]),
        (b"data: x\n", []),
        (b"data: \xff\n\n", [("message", "\ufffd")]),
        (b"data: a\n\ndata: never ended", [("message", "a")]),
        (b"", []),
    ],
)
def test_stream_is_read_by_the_standard(stream: bytes, events: list):
    assert decode(stream) == events


def test_event_of_the_largest_size_is_read_and_a_larger_one_is_refused():
    line = b"data: " + b"x" * (MAX_EVENT_BYTES - 6)
    assert decode(line + b"\n\n")[0][1] == "x" * (MAX_EVENT_BYTES - 6)
    assert len(decode((line + b"\n\n") * 2)) == 2
    with pytest.raises(EventTooLarge, match="more than 1048576 bytes"):
        decode(line + b"x")
    with pytest.raises(EventTooLarge):
        decode(b"data: x\n" * 200_000)
