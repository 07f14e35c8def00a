"""Server-sent events as bytes: the encoder of answers, and a decoder for any stream.

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
_BLANK_LINE = re.compile(rb"(?>\r\n|\n|\r){2}")
# U+2028 and U+2029 end a line for the client's regular expression; a lone surrogate has no UTF-8.
_UNSAFE = re.compile("[\u2028\u2029\ud800-\udfff]")
_CHUNK_HEAD = b'event: copilotMessageChunk\ndata: {"delta":'
_CHUNK_TAIL = b"}\n\n"


class EventTooLarge(ValueError):
    """One event of a stream is larger than `MAX_EVENT_BYTES`."""


def encode(name: str, data: Mapping[str, Json]) -> bytes:
    """Return one event as raw UTF-8.

    C0 controls, U+2028, U+2029 and lone surrogates are escaped.

    Raises:
        ValueError: The payload holds NaN or an infinity, which JSON lacks.
    """
    return b"event: %b\n%b" % (name.encode(), encode_data(data))


def encode_data(data: Mapping[str, Json]) -> bytes:
    """Return one event without a name."""
    return b"data: %b\n\n" % encode_json(data)


def encode_json(value: Json) -> bytes:
    """Return a JSON document with the same escapes, so that any text has a form in UTF-8."""
    return _utf8(_JSON.encode(value))


def encode_chunk(delta: str) -> bytes:
    """Return one `copilotMessageChunk`; the hot path of every answer."""
    return _CHUNK_HEAD + _utf8(encode_basestring(delta)) + _CHUNK_TAIL


def decode(stream: bytes) -> list[tuple[str, str]]:
    """Return the events of a whole stream; see `Decoder`."""
    return Decoder().feed(stream)


class Decoder:
    """Incremental reader of an event stream, whatever its pieces are.

    Comments and unknown fields are skipped; LF, CR and CRLF end a line; several data lines are
    joined with LF; an event without its blank line is never returned.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._at_start = True

    def feed(self, piece: bytes) -> list[tuple[str, str]]:
        """Take the next bytes.

        Returns:
            The events that are now complete: their names ("message" when unnamed) and data.

        Raises:
            EventTooLarge: An event has more than `MAX_EVENT_BYTES`.
        """
        *blocks, self._rest = _BLANK_LINE.split(self._rest + piece)
        if any(len(block) > MAX_EVENT_BYTES for block in (*blocks, self._rest)):
            raise EventTooLarge(f"One event of the stream has more than {MAX_EVENT_BYTES} bytes.")
        if blocks and self._at_start:
            blocks[0] = blocks[0].removeprefix(_BOM)
            self._at_start = False
        return [event for block in blocks if (event := _event(block))]


def _event(block: bytes) -> tuple[str, str] | None:
    name, data = "", []
    for line in block.splitlines():
        field, _, value = line.partition(b":")
        text = value.removeprefix(b" ").decode("utf-8", "replace")
        if field == b"data":
            data.append(text)
        elif field == b"event":
            name = text
    return (name or "message", "\n".join(data)) if data else None


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
