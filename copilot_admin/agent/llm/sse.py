"""Splits what a model server sends into JSON documents: events of a stream, or one whole document."""

from collections.abc import Iterable, Iterator
import json
import math
from typing import NamedTuple

import orjson

from copilot_admin.agent.llm.provider_errors import BOM, is_web_page, web_page
from copilot_admin.errors import ProviderBroke
from protocol.json import Json

DONE = b"[DONE]"
# A picture that a model draws comes in one event, in base64.
MAX_EVENT_BYTES = 8 * 1024 * 1024
MAX_ANSWER_BYTES = 256 * 1024 * 1024  # of some 350 bytes for a token
_MAX_DIGITS = 400  # a number of floating point has 309
_TOO_LARGE = (
    "The model's provider sent more than 8 MiB at once, so the answer was ended. Ask again."
)
_TOO_MUCH = (
    "The model's provider sent more than 256 MiB for one answer, so the answer was ended. Ask for "
    "less at once."
)


class Payload(NamedTuple):
    """The data of one event; `is_error` says that the event was called an error."""

    data: bytes
    is_error: bool = False


class PayloadReader:
    """Reads blocks of bytes, wherever they are cut, and returns whole payloads.

    The first byte tells a stream of events from a single document: servers mislabel both.
    Source: the event stream format of the HTML standard.
    """

    def __init__(self) -> None:
        self._rest: list[bytes] = []  # of an event or document that has not ended
        self._size = 0
        self._left = MAX_ANSWER_BYTES
        self._is_document: bool | None = None  # None: only blanks came
        self._ended_in_return = False

    def feed(self, block: bytes) -> list[Payload]:
        """Return the payloads that end with this block.

        Raises:
            ProviderBroke: An event or all of them are too large, or a web page came instead.
        """
        self._left -= len(block)
        if self._left < 0:
            raise ProviderBroke(_TOO_MUCH)
        is_whole = block.startswith(b"data: ") and block.endswith(b"\n\n")
        if is_whole and not (self._rest or b"\r" in block):  # as nearly always
            self._is_document = False
            return [one for event in block[:-2].split(b"\n\n") for one in _payloads_in(event)]
        if self._is_document is None and not (block := self._detect_form(block)):
            return []
        if self._is_document:
            self._keep(block)
            return []
        block = self._normalize_line_ends(block)
        if b"\n" not in block:
            self._keep(block)
            return []
        *events, rest = b"".join((*self._rest, block)).split(b"\n\n")
        self._rest, self._size = [], 0
        payloads = [payload for event in events for payload in _payloads_in(event)]
        if rest:
            self._keep(rest)
        return payloads

    def end(self) -> list[Payload]:
        """Return what the end of the body ends: the document, or an event without a blank line."""
        rest, self._rest = b"".join(self._rest), []
        if self._is_document:
            return [Payload(rest)] if rest else []
        return list(_payloads_in(rest))

    def _detect_form(self, block: bytes) -> bytes:
        start = block.lstrip(BOM + b" \t\r\n")
        if start:
            if is_web_page(start):
                raise web_page()
            self._is_document = start.startswith((b"{", b"["))
        return start

    def _normalize_line_ends(self, block: bytes) -> bytes:
        if self._ended_in_return and block.startswith(b"\n"):
            block = block[1:]
        self._ended_in_return = block.endswith(b"\r")
        if b"\r" in block:
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return block

    def _keep(self, part: bytes) -> None:
        self._rest.append(part)
        self._size += len(part)
        if self._size > MAX_EVENT_BYTES:
            raise ProviderBroke(_TOO_LARGE)


def _payloads_in(event: bytes) -> Iterable[Payload]:
    if event.startswith(b"data: ") and b"\n" not in event:
        return (Payload(event[6:]),)
    return _read_lines(event)


def _read_lines(event: bytes) -> Iterator[Payload]:
    data = []
    is_error = False
    for line in event.split(b"\n"):
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
        elif name == b"event":
            is_error = value.strip() == b"error"
        elif is_web_page(line):
            raise web_page()
    if len(data) > 1 and all(one.startswith((b"{", DONE)) for one in data):
        yield from (Payload(one, is_error) for one in data)  # events without blank lines between
    elif data:
        yield Payload(b"\n".join(data), is_error)


def load_json(payload: bytes) -> Json:
    """Read JSON, and what servers send that is none: half characters, broken UTF-8, NaN, long numbers.

    Raises:
        ValueError: It is no JSON, or nested too deep.
    """
    try:
        parsed: Json = orjson.loads(payload)
    except orjson.JSONDecodeError:
        try:
            parsed = json.loads(payload.decode("utf-8", "replace"), parse_int=_number)
        except RecursionError:
            raise ValueError("nested too deep") from None
    return parsed


def _number(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf
