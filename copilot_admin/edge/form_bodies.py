"""The body of a form in which a file is too large: the file goes, what was typed stays.

A person who chose a wrong file should find the error at its field and the text where it was. So the
content of files is left out of a body that passes its limit, and each says so by its media type.
Source: https://www.rfc-editor.org/rfc/rfc7578#section-4
"""

from io import BytesIO

from django.utils.http import parse_header_parameters

from copilot_admin.edge.asgi_types import Scope, header, is_api

TOO_LARGE_TYPE = "application/vnd.copilot-admin.too-large"
# What is read of a form at most; a body beyond it is refused as a whole.
MOST_READ_BYTES = 256 * 1024 * 1024
_BLANK_LINE = b"\r\n\r\n"


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

    It is searched only when the limit is passed, and gives way only when that frees half of it, so
    that a body made of many small files costs no more than a few searches.
    """

    def __init__(self, boundary: bytes, *, max_bytes: int) -> None:
        """Begins a body.

        Args:
            boundary: Of the parts, as the Content-Type has it.
            max_bytes: What may be kept; a body of text that is longer is kept, and `size` tells.
        """
        self._delimiter = b"\r\n--" + boundary
        self._kept = bytearray(b"\r\n")  # so that the first delimiter is like all others
        self._max_bytes = max_bytes
        # While a file is skipped: its last bytes, which may be the beginning of a delimiter.
        self._tail: bytes | None = None

    @property
    def size(self) -> int:
        """How many bytes are kept so far."""
        return len(self._kept) - 2

    def add(self, data: bytes) -> None:
        """Takes the next bytes."""
        if self._tail is not None:
            data = self._after_file(self._tail + data)
        self._kept += data
        if self.size > self._max_bytes:
            self._give_up_files()

    def whole(self) -> bytes:
        """What is left of the body."""
        return bytes(self._kept[2:])

    def _after_file(self, window: bytes) -> bytes:
        """What follows the file that is being skipped; nothing while it goes on."""
        at = window.find(self._delimiter)
        if at < 0:
            self._tail = self._end_of(window)
            return b""
        self._tail = None
        return window[at:]

    def _give_up_files(self) -> None:
        first, *parts = bytes(self._kept).split(self._delimiter)
        shorter = [_without_content(part) for part in parts]
        kept = self._delimiter.join([first, *shorter])
        if len(kept) > self._max_bytes // 2:
            return
        if shorter[-1] != parts[-1]:  # the last one has not ended
            self._tail = self._end_of(parts[-1])
        self._kept = bytearray(kept)

    def _end_of(self, data: bytes) -> bytes:
        """The end of some bytes, one shorter than a delimiter."""
        return data[1 - len(self._delimiter) :]


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


def _without_content(part: bytes) -> bytes:
    """A part without its content, if it is a file whose headers have come."""
    head, blank, _ = part.partition(_BLANK_LINE)
    lines = head.split(b"\r\n")
    if not blank or not any(b"filename=" in line.lower() for line in lines):
        return part
    kept = [line for line in lines if not line.lower().startswith(b"content-type:")]
    return b"\r\n".join([*kept, b"Content-Type: " + TOO_LARGE_TYPE.encode()]) + _BLANK_LINE
