"""Reads and writes JSON with very long texts, of which no single call holds the interpreter for long.

Python's parser makes of a text of 18 MB with an escape at every second character one call of 0.1 s,
and its writer one of 0.06 s; no other thread runs meanwhile. So such texts are taken out, read and
written in pieces, and put in their places.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
import json
from json.encoder import encode_basestring
import re
from secrets import token_hex
from typing import Any

import orjson

from protocol.json import Json
from protocol.pieces import pieces_of
from protocol.walk import Scalar

LONG = 1024 * 1024  # bytes or characters; what is shorter is read in some milliseconds
_PIECE = 128 * 1024
_PROBED_EVERY, _PROBE = LONG // 2, 4096  # a long text has a probe that lies in it as a whole
_HIGH_HALF = re.compile(rb"\\u[dD][89abAB]")
_LONGEST_ESCAPE = 6  # bytes; a half of a character outside of the first plane has another behind it


@dataclass(frozen=True, slots=True)
class Split:
    """JSON without its long texts.

    Attributes:
        body: With a name in the place of each.
        texts: By their names, which nobody can know.
    """

    body: bytes
    texts: Mapping[str, str] = field(default_factory=dict)


def split(body: bytes) -> Split:
    """Takes the long texts out that have escapes; of most bodies there are none.

    Raises:
        ValueError: A text is none, so that the whole is no JSON.
    """
    if not _may_have_long_ones(body):
        return Split(body)
    parts: list[bytes] = []
    texts: dict[str, str] = {}
    at = 0
    for start, end in _long_ones(body):
        name = token_hex(16)
        texts[name] = "".join(_read(body, start, end))
        parts += (body[at:start], name.encode())
        at = end
    return Split(b"".join((*parts, body[at:])), texts)


class LongTextWriter:
    """Writes JSON with long texts, which it is shown before.

    Attributes:
        scalar: What stands in the place of a scalar while the whole is written.
    """

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def scalar(self, value: Scalar) -> Scalar:
        """The value; of a long text a name, which nobody can know."""
        if not isinstance(value, str) or len(value) < LONG:
            return value
        name = token_hex(16)
        self._texts[name] = value
        return name

    def dumped(self, value: Json, **options: Any) -> str:
        """The value as `json.dumps` writes it without `ensure_ascii`, with the texts in their places."""
        text = json.dumps(value, ensure_ascii=False, **options)
        for name, long in self._texts.items():
            before, _, after = text.partition(name)
            text = "".join(
                (before, *(encode_basestring(one)[1:-1] for one in pieces_of(long)), after)
            )
        return text


def _may_have_long_ones(body: bytes) -> bool:
    """Whether somewhere in the body a stretch has escapes, and no quote that ends a text."""
    probes = (body[at : at + _PROBE] for at in range(0, len(body), _PROBED_EVERY))
    return len(body) > LONG and any(
        b"\\" in probe and probe.count(b'"') <= probe.count(b'\\"') + 1 for probe in probes
    )


def _long_ones(body: bytes) -> Iterator[tuple[int, int]]:
    """Where long texts stand, between their quotes."""
    start = 0
    began: int | None = None  # where the text that is open at the start of a piece begins
    while start < len(body):
        end = min(start + _PIECE, len(body))
        end = max(end - odd_backslashes(body, start, end), start + 1)
        masked = body[start:end].replace(b"\\\\", b"xx").replace(b'\\"', b"xx")
        closing = masked.find(b'"') if began is not None else -1
        if began is not None and closing >= 0:
            if start + closing - began >= LONG:
                yield began, start + closing
            began, end = None, start + closing + 1
        elif began is None and masked.count(b'"') % 2:
            began = start + masked.rfind(b'"') + 1  # of an odd number the last one opens
        start = end


def _read(body: bytes, start: int, end: int) -> Iterator[str]:
    while start < end:
        stop = min(start + _PIECE, end)
        stop = _between_characters(body, start, stop) if stop < end else end
        yield _text(b'"%b"' % body[start:stop])
        start = stop


def _text(quoted: bytes) -> str:
    try:
        text: str = orjson.loads(quoted)
    except orjson.JSONDecodeError:
        text = json.loads(quoted.decode())  # half a character, or what is no text
    return text


def _between_characters(body: bytes, start: int, stop: int) -> int:
    """The last place up to one at which a text may be cut: not within a character or its escapes."""
    while body[stop] & 0xC0 == 0x80:
        stop -= 1
    stop -= odd_backslashes(body, start, stop)
    for back in range(2, _LONGEST_ESCAPE):  # one back there is no backslash any more
        if _is_escape(body, start, stop - back, b"\\u"):
            stop -= back
            break
    half = stop - _LONGEST_ESCAPE
    if _is_escape(body, start, half, b"\\u") and _HIGH_HALF.match(body, half):
        stop = half
    return stop if stop > start else min(start + _PIECE, len(body))


def _is_escape(body: bytes, start: int, at: int, escape: bytes) -> bool:
    return at >= start and body.startswith(escape, at) and not odd_backslashes(body, start, at)


def odd_backslashes(body: bytes, start: int, end: int) -> int:
    """1 where an odd number of backslashes ends there: a character behind them belongs to the last."""
    run = end
    while run > start and body[run - 1] == ord("\\"):
        step = body[max(start, run - 1024) : run]
        run -= len(step) - len(step.rstrip(b"\\"))
    return (end - run) % 2
