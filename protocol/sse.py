"""Server-sent events as bytes: the one encoder of answers, and a decoder for any stream.

Source: the event stream format of the HTML standard, narrowed to what Workspace reads: one `event`
line, one `data` line with a JSON object, a blank line.
"""

from collections.abc import Mapping, Sequence
from json import JSONEncoder
from json.encoder import encode_basestring
import re

from protocol.json import Json

PING = b": ping\n\n"
MAX_EVENT_BYTES = 1024 * 1024  # no provider and no client sends more in one event

_BOM = b"\xef\xbb\xbf"
_LINE_END = re.compile(rb"\r\n|\n|\r")
# U+2028 and U+2029 end a line for the client's regular expression; a lone surrogate has no UTF-8.
_UNSAFE = re.compile("[\u2028\u2029\ud800-\udfff]")
_CHUNK_HEAD = b'event: copilotMessageChunk\ndata: {"delta":'
_CHUNK_TAIL = b"}\n\n"


class EventTooLarge(ValueError):
    """One event of a stream is larger than `MAX_EVENT_BYTES`."""


def encode(name: str, data: Mapping[str, Json]) -> bytes:
    """Write one event.

    Args:
        name: The event's name, one line.
        data: The payload.

    Returns:
        Raw UTF-8 in which C0 controls, U+2028, U+2029 and lone surrogates are escaped.

    Raises:
        ValueError: The payload holds NaN or an infinity, which JSON cannot say.
    """
    return b"event: %b\ndata: %b\n\n" % (name.encode(), _utf8(_JSON.encode(data)))


def encode_data(data: Mapping[str, Json]) -> bytes:
    r"""Write one event without a name, as `encode` writes those that have one.

    Examples:
        >>> encode_data({"n": 1})
        b'data: {"n":1}\n\n'
    """
    return b"data: %b\n\n" % _utf8(_JSON.encode(data))


def encode_json(value: Json) -> bytes:
    r"""Write a document with the same escapes, so that any text has a form in UTF-8.

    Examples:
        >>> encode_json(["\ud800"])
        b'["\\ud800"]'
    """
    return _utf8(_JSON.encode(value))


def encode_chunk(delta: str) -> bytes:
    """Write one `copilotMessageChunk`; the hot path of every answer."""
    return _CHUNK_HEAD + _utf8(encode_basestring(delta)) + _CHUNK_TAIL


def decode(stream: bytes) -> list[tuple[str, str]]:
    """Read a whole stream; see `Decoder`."""
    return Decoder().feed(stream)


class Decoder:
    """Reads a stream piece by piece, wherever the pieces break.

    Comments and unknown fields are skipped; LF, CR and CRLF end a line; several data lines are
    joined with LF; an event without its blank line is never returned.
    """

    def __init__(self) -> None:
        self._line = bytearray()  # the line that has not ended yet
        self._skip_newline = False  # the last piece ended in \r: a \n would belong to it
        self._at_start = True
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, piece: bytes) -> list[tuple[str, str]]:
        """Take the next bytes.

        Args:
            piece: Any number of bytes.

        Returns:
            The events that are now complete: their names ("message" when unnamed) and data texts.

        Raises:
            EventTooLarge: An event has more than `MAX_EVENT_BYTES`.
        """
        start = 1 if self._skip_newline and piece.startswith(b"\n") else 0
        if piece:
            self._skip_newline = piece.endswith(b"\r")
        events = []
        for end in _LINE_END.finditer(piece, start):
            self._take(piece[start : end.start()])
            start = end.end()
            if event := self._end_line():
                events.append(event)
        self._take(piece[start:])
        return events

    def _take(self, part: bytes) -> None:
        self._line += part
        self._size += len(part)
        if self._size > MAX_EVENT_BYTES:
            raise EventTooLarge(f"One event of the stream has more than {MAX_EVENT_BYTES} bytes.")

    def _end_line(self) -> tuple[str, str] | None:
        line = bytes(self._line)
        self._line.clear()
        if self._at_start:
            self._at_start = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            self._data.append(value)
        elif field == b"event":
            self._name = value.decode("utf-8", "replace")
        return None

    def _dispatch(self) -> tuple[str, str] | None:
        name, data = self._name or "message", self._data
        self._name, self._data, self._size = "", [], 0
        return (name, b"\n".join(data).decode("utf-8", "replace")) if data else None


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
    raise TypeError(f"{type(value).__name__} is no JSON value.")


_JSON = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
