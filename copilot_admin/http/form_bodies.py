"""The body of a form in which a file is too large: the file goes, what was typed stays.

A person who chose a wrong file should find the error at its field and the text where it was. So the
content of files is left out of a body that passes its limit, and each says so by its media type.
Source: https://www.rfc-editor.org/rfc/rfc7578#section-4
"""

from io import BytesIO
from typing import NamedTuple

from django.utils.http import parse_header_parameters

from copilot_admin.http.asgi_types import Scope, header, is_api
from copilot_admin.http.form_parts import LONGEST_HEAD, most_files, most_parts

TOO_LARGE_TYPE = "application/vnd.copilot-admin.too-large"
# What is read of a form at most; a body beyond it is refused as a whole.
MOST_READ_BYTES = 256 * 1024 * 1024
_LINE_END = b"\r\n"
_BLANK_LINE = 2 * _LINE_END
_NEW_TYPE = b"\r\nContent-Type: " + TOO_LARGE_TYPE.encode() + _BLANK_LINE


class WholeBody:
    """A body that is kept as it comes."""

    def __init__(self) -> None:
        self._kept = BytesIO()
        self.size = 0

    def add(self, data: bytes) -> None:
        """Takes the next bytes."""
        self._kept.write(data)
        self.size += len(data)

    def whole(self) -> bytes:
        """The whole body, without a copy of it."""
        return self._kept.getvalue()


class FormBody:
    """A multipart body that gives up the content of its files rather than pass its limit.

    It notes where files lie as it comes: each byte is looked at once, and a message is the most that is
    looked at without a pause. To take 21 MB of delimiters apart when they had come stopped the event
    loop for 3.9 s, and took 450 MB. It gives way only when that frees half of it; when it does not, or
    has more parts than are read of a form, it stays too large.
    """

    def __init__(self, boundary: bytes, *, max_bytes: int) -> None:
        """Begins a body.

        Args:
            boundary: Of the parts, as the Content-Type has it.
            max_bytes: What may be kept; a body of text that is longer is kept, and `size` tells.
        """
        self._delimiter = _LINE_END + b"--" + boundary
        self._max_bytes = max_bytes
        self._kept = BytesIO()
        # The last bytes that came, which may be the beginning of a delimiter. The first delimiter has no
        # line before it, and is like all others.
        self._tail = _LINE_END
        self._part_start: int | None = None  # of the part that comes
        self._files: list[_File] = []  # those that have ended, and could go
        self._parts_left, self._files_left = most_parts(), most_files()
        self._skips = False  # a file that is given up
        self._can_give_way = True

    @property
    def size(self) -> int:
        """How many bytes are kept so far."""
        return self._kept.tell()

    def add(self, data: bytes) -> None:
        """Takes the next bytes."""
        if not self._can_give_way:
            self._kept.write(data)
            return
        window = self._tail + data
        at = window.find(self._delimiter)
        if not self._skips:
            self._kept.write(data)
        elif at >= 0:
            self._kept.write(window[at:])
            self._skips = False
        behind = self._note_parts(window, at)
        self._tail = window[max(behind, len(window) - len(self._delimiter) + 1) :]
        if self.size > self._max_bytes:
            self._give_up_files()

    def whole(self) -> bytes:
        """What is left of the body, without a copy of it."""
        return self._kept.getvalue()

    def _note_parts(self, window: bytes, at: int) -> int:
        """Notes what ends and begins at the delimiters; returns the place behind the last one."""
        self._parts_left -= window.count(self._delimiter)
        self._can_give_way = self._parts_left >= 0
        before = self.size - len(window)  # the window is the end of what is kept
        behind = 0
        with self._kept.getbuffer() as kept:
            while at >= 0 and self._can_give_way:
                behind = at + len(self._delimiter)
                self._files += self._file_until(before + at, kept)
                self._part_start = before + behind
                self._can_give_way = len(self._files) <= self._files_left
                at = window.find(self._delimiter, behind)
        return behind

    def _file_until(self, end: int, kept: memoryview) -> "list[_File]":
        """The part that comes, as far as a place, if it is a file whose headers have come."""
        start = self._part_start
        if start is None:
            return []
        head, blank, _ = bytes(kept[start : min(end, start + LONGEST_HEAD)]).partition(_BLANK_LINE)
        is_file = blank and b"filename=" in head.lower()
        return [_File(start, start + len(head), end)] if is_file else []

    def _give_up_files(self) -> None:
        if not self._can_give_way:
            return
        with self._kept.getbuffer() as kept:
            coming = self._file_until(self.size, kept)
            shorter = self._without([*self._files, *coming], kept)
        self._can_give_way = shorter is not None
        if shorter is None:
            return
        if coming:
            self._part_start, self._skips = None, True
        elif self._part_start is not None:
            self._part_start -= self.size - shorter.tell()
        self._kept = shorter
        self._files_left -= len(self._files) + len(coming)
        self._files = []

    def _without(self, files: "list[_File]", kept: memoryview) -> BytesIO | None:
        """What is kept without the content of files; None if that is more than half of the limit."""
        heads = [_without_type(bytes(kept[file.start : file.content])) for file in files]
        lost = sum(file.end - file.start for file in files) - sum(map(len, heads))
        if len(_LINE_END) + len(kept) - lost > self._max_bytes // 2:
            return None
        shorter, at = BytesIO(), 0
        for file, head in zip(files, heads, strict=True):
            shorter.write(kept[at : file.start])
            shorter.write(head)
            at = file.end
        shorter.write(kept[at:])
        return shorter


class _File(NamedTuple):
    """Where a file lies in a body.

    Attributes:
        start: Of its part, behind the delimiter.
        content: Where its head has ended.
        end: Of its part.
    """

    start: int
    content: int
    end: int


def form_boundary(scope: Scope) -> bytes | None:
    """The boundary of a form that a page sends; None where the body is anything else."""
    given = header(scope, b"content-type")
    if given is None or is_api(scope["path"]):
        return None
    try:
        media_type, parameters = parse_header_parameters(given.decode("latin-1"))
        boundary = parameters.get("boundary", "").encode("latin-1")
    except (UnicodeError, ValueError):  # Django refuses what it cannot read in its own words
        return None
    return boundary if media_type == "multipart/form-data" and boundary else None


def is_encoded(scope: Scope) -> bool:
    """Whether a body is a form of a page whose fields are percent-encoded."""
    given = header(scope, b"content-type") or b""
    media_type = given.partition(b";")[0].strip().lower()
    return media_type == b"application/x-www-form-urlencoded" and not is_api(scope["path"])


def is_form(scope: Scope) -> bool:
    """Whether a body is a form of a page, in whatever way its fields are written."""
    return is_encoded(scope) or form_boundary(scope) is not None


def with_length(scope: Scope, size: int) -> Scope:
    """The request with the length that its body has now."""
    rows = [row for row in scope["headers"] if row[0] != b"content-length"]
    return {**scope, "headers": [*rows, (b"content-length", str(size).encode())]}


def _without_type(head: bytes) -> bytes:
    """A head that says by its type that the content is gone.

    Of several types one goes: the last one counts, and it is ours.
    """
    start = head.lower().find(b"\r\ncontent-type:")
    if start >= 0:
        end = head.find(b"\r\n", start + 2)
        head = head[:start] + (head[end:] if end >= 0 else b"")
    return head + _NEW_TYPE
