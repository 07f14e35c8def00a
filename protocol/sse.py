"""Server-sent events as bytes: the encoder of answers, and the decoder of any stream.

Source: the event stream format of the HTML standard, restricted to the subset of Workspace: one
`event` line, one `data` line with a JSON object, a blank line.
"""

from collections.abc import Mapping, Sequence
from json import JSONEncoder
from json.encoder import encode_basestring
import re
from typing import TypeAlias

from protocol.json import Json

PING = b": ping\n\n"
MAX_EVENT_BYTES = 1024 * 1024  # no copilot and no client sends more in one event

BOM = b"\xef\xbb\xbf"
# U+2028 and U+2029 end a line for the client's regular expression; a lone surrogate has no UTF-8.
_UNSAFE = re.compile("[\u2028\u2029\ud800-\udfff]")
_CHUNK_HEAD = b'event: copilotMessageChunk\ndata: {"delta":'
_CHUNK_TAIL = b"}\n\n"


ServerEvent: TypeAlias = tuple[str, bytes]  # name and data; an unnamed event is a "message"


class EventTooLarge(ValueError):
    """One event of a stream is larger than the limit of its decoder."""


def encode(name: str, data: Mapping[str, Json]) -> bytes:
    """Return one event as raw UTF-8; raise `ValueError` for NaN and infinities, which JSON lacks.

    C0 controls, U+2028, U+2029 and lone surrogates are escaped.
    """
    return b"event: %b\n%b" % (name.encode(), encode_data(data))


def encode_data(data: Mapping[str, Json]) -> bytes:
    """Return one event without a name."""
    return b"data: %b\n\n" % encode_json(data)


def encode_json(value: Json) -> bytes:
    """Return a JSON document with the same escapes, so that any text can be encoded as UTF-8."""
    return _utf8(_JSON.encode(value))


def encode_chunk(delta: str) -> bytes:
    """Return one `copilotMessageChunk`; the hot path of every answer."""
    return _CHUNK_HEAD + _utf8(encode_basestring(delta)) + _CHUNK_TAIL


def decode(stream: bytes) -> list[tuple[str, str]]:
    """Return names and data of the events of a complete stream; see `Decoder`."""
    return [(name, data.decode("utf-8", "replace")) for name, data in Decoder().feed(stream)]


class Decoder:
    """Incremental reader of an event stream with arbitrary piece boundaries.

    Comments and unknown fields are skipped; LF, CR and CRLF end a line; several data lines are
    joined with LF. `end` returns an event without its blank line, which the standard drops.
    """

    def __init__(self, *, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max_event_bytes = max_event_bytes
        self._rest: list[bytes] = []  # of an event that has not ended
        self._rest_bytes = 0
        self._at_start = True
        self._ended_in_return = False

    def feed(self, piece: bytes) -> list[ServerEvent]:
        """Add the next bytes and return the events that are complete; raise `EventTooLarge`."""
        if b"\r" in piece or self._ended_in_return:
            piece = piece.removeprefix(b"\n") if self._ended_in_return else piece
            self._ended_in_return = piece.endswith(b"\r")
            piece = piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in piece:
            self._buffer(piece)
            return []
        if self._rest:
            piece = b"".join((*self._rest, piece))
            self._rest, self._rest_bytes = [], 0
        *blocks, rest = piece.split(b"\n\n")
        self._buffer(rest)
        if len(piece) > self._max_event_bytes:
            self._check(max(map(len, blocks), default=0))
        if blocks and self._at_start:
            blocks[0] = blocks[0].removeprefix(BOM)
            self._at_start = False
        return [event for block in blocks if (event := _read(block))]

    def end(self) -> list[ServerEvent]:
        """Return the event that is pending at the end of the stream, if any."""
        rest, self._rest = b"".join(self._rest), []
        return [event] if (event := _read(rest)) else []

    def _buffer(self, part: bytes) -> None:
        if part:
            self._rest.append(part)
            self._rest_bytes += len(part)
            self._check(self._rest_bytes)

    def _check(self, size: int) -> None:
        if size > self._max_event_bytes:
            raise EventTooLarge(
                f"One event of the stream has more than {self._max_event_bytes} bytes."
            )


def _read(block: bytes) -> ServerEvent | None:
    if block.startswith(b"data: ") and b"\n" not in block:  # nearly always
        return "message", block[6:]
    name, data = "", []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
    return (name or "message", b"\n".join(data)) if data else None


def _utf8(text: str) -> bytes:
    if not text.isascii():
        text = _UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    return text.encode()


def _plain(value: object) -> object:
    match value:
        case Mapping():
            return dict(value)
        case Sequence():
            return list(value)
    raise TypeError(f"{type(value).__name__} is not a JSON value.")


_JSON = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
