"""Splits the bytes of an event stream into the data of its events."""

import re
from typing import ClassVar

from copilot_admin.agent.llm.lenient_json import leniently_parsed
from copilot_admin.agent.llm.provider_errors import BOM, is_web_page, web_page
from copilot_admin.errors import ProviderBroke

DONE = b"[DONE]"
MAX_EVENT_BYTES = 1024 * 1024
# Of one stream, unpacked. A chunk takes about 350 bytes for a token, and no model writes more than
# some hundred thousand tokens; a packed stream of 256 KB can hold as much.
MAX_STREAM_BYTES = 256 * 1024 * 1024
_BEFORE_ALL = BOM + b" \t\r\n"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_TOO_LARGE = (
    "The model's provider sent more than 1 MiB at once, so the answer was ended. Ask again."
)
_TOO_MUCH = (
    "The model's provider sent more than 256 MiB for one answer, so the answer was ended. Ask for "
    "less at once."
)
# Between two events: signs of life are some twenty bytes every few seconds. What is read is read no
# faster than words, so that 12 MB of blank lines, which 12 KB hold when they are packed, took 15 s.
MAX_BYTES_WITHOUT_DATA = 1024 * 1024
_NOTHING_SAID = (
    "The model's provider sent 1 MiB of blank lines or comments, and no answer, so the answer was "
    "ended. Ask again; if it stays, tell whoever runs the provider."
)


class ErrorData(bytes):
    """The data of an event whose name says that it is an error."""


class DataLines:
    """Reads blocks of bytes, however they are cut, and returns the data of whole events.

    Names but that of an error, ids and comments are passed over; the lines of one event are joined
    with a newline.
    Data stays bytes: an event is whole before it is decoded, so no character is ever cut.
    Source: the event stream format of the HTML standard.

    Attributes:
        is_over: Never: another event may follow.
    """

    is_over: ClassVar[bool] = False

    def __init__(self) -> None:
        self._fault: ProviderBroke | None = None  # of what follows the data returned last
        self._left = MAX_STREAM_BYTES
        self._without_data = 0  # bytes since the last event, or line of one
        self._rest = bytearray()  # an unfinished line
        self._data: list[bytes] = []  # the lines of an unfinished event
        self._size = 0
        self._is_error = False  # the event that has not ended

    @property
    def held(self) -> int:
        """Bytes of an event that has not ended."""
        return len(self._rest) + self._size

    def feed(self, block: bytes) -> list[bytes]:
        """Returns the data of the events that this block ends.

        Raises:
            ProviderBroke: An event is larger than 1 MiB, all of them are too large, so much is none,
                or it is a web page. Where there are events before it they are returned, and `check` raises it.
        """
        self._left -= len(block)
        if self._left < 0:
            raise ProviderBroke(_TOO_MUCH)
        # Nearly every block is some whole events of one line each.
        is_begun = self._rest or self._data or self._is_error
        if block.endswith(b"\n\n") and not (is_begun or b"\r" in block):
            events = block[:-2].split(b"\n\n")
            begins = block.startswith(b"data: ") + block.count(b"\n\ndata: ")
            if begins == len(events) and block.count(b"\n") == 2 * begins:
                self._without_data = 0
                return [event[6:] for event in events]
        return self._feed_lines(block)

    def check(self) -> None:
        """Looks at what followed the data that was returned last.

        Raises:
            ProviderBroke: It cannot be read.
        """
        if self._fault is not None:
            raise self._fault

    def end(self) -> list[bytes]:
        """Returns the data of an event that the stream ended without a blank line."""
        return self._feed_lines(b"\n\n")

    def settle(self) -> list[bytes]:
        """Returns the data of an event that lacks nothing but the blank line behind it.

        It is for a silence: some servers write no blank line behind the last event, and keep the
        connection open. Of an error also a text counts, once its line has ended.
        """
        name, _, value = bytes(self._rest).removeprefix(BOM).partition(b":")
        data = b"\n".join((*self._data, value) if name == b"data" else self._data)
        is_told = self._is_error and self._data and not self._rest
        return self.end() if is_told or data.strip() == DONE or _is_whole(data) else []

    def _feed_lines(self, block: bytes) -> list[bytes]:
        may_end_line = self._rest.endswith(b"\r") or _LINE_END.search(block)
        self._rest += block
        if not may_end_line:  # a long line in many blocks is not searched again with each of them
            self._check(len(self._rest) - len(b"data: "))
            return []
        text = bytes(self._rest)
        held = b"\r" if text.endswith(b"\r") else b""  # a newline may follow in the next block
        *lines, rest = _LINE_END.split(text[:-1] if held else text)
        self._rest = bytearray(rest + held)
        found: list[bytes] = []
        try:
            self._take_lines(lines, found)
            self._check(len(self._rest) - len(b"data: "))
            self._check_silence(0 if found or self._data else self._without_data + len(block))
        except ProviderBroke as fault:
            if not found:
                raise
            self._fault = fault
        return found

    def _take_lines(self, lines: list[bytes], found: list[bytes]) -> None:
        for line in lines:
            if line:
                self._take(line)
                continue
            if self._data:
                data = b"\n".join(self._data)
                found.append(ErrorData(data) if self._is_error else data)
                self._data, self._size = [], 0
            self._is_error = False

    def _take(self, line: bytes) -> None:
        name, _, value = line.removeprefix(BOM).partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            self._check(len(value))
            self._data.append(value)
            self._size += len(value) + 1  # the newline: there may be no end of empty lines
        elif name == b"event":
            self._is_error = value.strip() == b"error"
        elif is_web_page(line):
            raise web_page()

    def _check(self, more: int) -> None:
        if self._size + more > MAX_EVENT_BYTES:
            raise ProviderBroke(_TOO_LARGE)

    def _check_silence(self, without_data: int) -> None:
        self._without_data = without_data
        if without_data > MAX_BYTES_WITHOUT_DATA:
            raise ProviderBroke(_NOTHING_SAID)


class WholeAnswer:
    """Reads a body that is one piece of data, from a server that does not stream.

    Attributes:
        is_over: It was whole, whatever follows.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._body = bytearray()

    @property
    def held(self) -> int:
        """Bytes of the body so far, as long as nothing was made of them."""
        return 0 if self.is_over else len(self._body)

    def feed(self, block: bytes) -> list[bytes]:
        """Keeps the block; the data is there at the end.

        Raises:
            ProviderBroke: The body is larger than 1 MiB.
        """
        self._body += block
        if len(self._body) > MAX_EVENT_BYTES:
            raise ProviderBroke(_TOO_LARGE)
        return []

    def check(self) -> None:
        """Finds nothing wrong: `feed` has raised whatever there was."""

    def settle(self) -> list[bytes]:
        """Gives the body in a silence, if it is a whole document: its end may never be told."""
        return self.end() if _is_whole(self._body) else []

    def end(self) -> list[bytes]:
        """Gives the whole body at its end: it is one JSON document, not lines of events."""
        if self.is_over:
            return []
        self.is_over = True
        return [bytes(self._body).removeprefix(BOM)]


class EitherForm:
    """Reads a stream of events or one JSON document; its first sign says which, whatever a header does.

    Some servers call an event stream JSON. Others, or what lies before them, send an error or an answer
    in one piece under the name of a stream.
    """

    def __init__(self) -> None:
        self._body: DataLines | WholeAnswer = DataLines()
        self._is_clear = False

    @property
    def held(self) -> int:
        """Bytes that nothing was made of yet."""
        return self._body.held

    @property
    def is_over(self) -> bool:
        return self._body.is_over

    def feed(self, block: bytes) -> list[bytes]:
        """Returns the data that ends with this block.

        Raises:
            ProviderBroke: As with the form that it has.
        """
        if not self._is_clear and (begins := block.lstrip(_BEFORE_ALL)):
            self._is_clear = True
            if begins.startswith((b"{", b"[")):
                self._body, block = WholeAnswer(), begins
        return self._body.feed(block)

    def check(self) -> None:
        """Looks at what followed the data that was returned last.

        Raises:
            ProviderBroke: It cannot be read.
        """
        self._body.check()

    def settle(self) -> list[bytes]:
        """Returns the data that is whole, though nothing says so; it is for a silence."""
        return self._body.settle()

    def end(self) -> list[bytes]:
        """Returns the data that the end of the body ends."""
        return self._body.end()


def _is_whole(data: bytes | bytearray) -> bool:
    if not data.rstrip().endswith(b"}"):
        return False
    try:
        return isinstance(leniently_parsed(bytes(data)), dict)
    except ValueError:
        return False
