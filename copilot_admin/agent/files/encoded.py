"""Files that are encoded in text."""

from base64 import b64decode
import binascii
from collections.abc import Iterator
import re

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.text_encodings import looks_like_text
from copilot_admin.agent.fetching.egress import MAX_BYTES

SHORTEST = 24  # characters; a shorter word may look like base64 by chance
SHORTEST_LINE = 60  # characters of base64 in lines: 64 or 76 are usual
LONGEST_WORD = 200  # characters; a longer one is no word of any language
_BLANKS = b" \t\r\n\v\f"
_DATA_ADDRESS = "data:"
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_HEAD = 1024  # characters; of a text they nearly always show that it is one
_LAID_OUT = 64 * 1024  # characters whose lines show how all are laid out


def check_size(content: str) -> None:
    """Looks at what can be seen before a file is decoded.

    Raises:
        UnreadableFile: It is larger than a file may be, or no base64.
    """
    if len(content) > MAX_BYTES * 4 // 3:
        raise UnreadableFile(f"It is larger than {MAX_BYTES // 2**20} MB.")
    if not content.isascii():
        raise UnreadableFile("Its content is no base64.")


def decoded(content: bytes) -> bytes:
    """The bytes of a file in base64, with or without the start of a `data:` address.

    Raises:
        UnreadableFile: It is no base64.
    """
    if content.startswith(_DATA_ADDRESS.encode()):
        content = content.partition(b",")[2]
    try:
        return b64decode(content.translate(None, _BLANKS), validate=True)
    except binascii.Error as error:
        raise UnreadableFile("Its content is no base64.") from error


def size_of(content: str) -> int:
    """How many bytes a file in base64 has, without decoding it."""
    start = content.find(",") + 1 if content.startswith(_DATA_ADDRESS) else 0
    padding = len(content) - len(content[-2:].rstrip("=")) - max(len(content) - 2, 0)
    return (len(content) - start) * 3 // 4 - padding


def begins_encoded(content: str) -> bool:
    """Whether a file of a kind that nobody here knows came as encoded bytes, by its beginning."""
    if content.startswith(_DATA_ADDRESS):
        return True
    head = content[:LONGEST_WORD].strip()
    is_long = bool(head) and len(content) >= LONGEST_WORD and head.isascii()
    return is_long and not head.encode().translate(None, _LETTERS + b"\r\n") and _is_one_block(head)


def is_plain_text(content: str) -> bool:
    is_short = len(content) < SHORTEST and not content.endswith("=")  # as hardly a text does
    if is_short or not content.isascii():
        return True
    head = content[:_HEAD].encode()
    if not head.startswith(_DATA_ADDRESS.encode()) and head.translate(None, _BLANKS + _LETTERS):
        return True
    try:
        data = decoded(content.encode())
    except UnreadableFile:
        return True
    try:
        data.decode()
    except UnicodeDecodeError:  # words without signs between them are base64 by chance
        is_long = len(content) >= LONGEST_WORD
        return not (_is_one_block(content) and (is_long or looks_like_text(data)))
    return False


def _is_one_block(content: str) -> bool:
    *lines, _ = content.strip()[:_LAID_OUT].splitlines()
    widths = set(map(len, lines))
    return " " not in content and (not lines or (len(widths) == 1 and min(widths) >= SHORTEST_LINE))


_PNG_HEAD = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"IEND"
# Texts, Exif, the time of the last change, more pictures of an animation and whatever programs add are not in it.
_PNG_PARTS = frozenset(
    (b"IHDR", b"PLTE", b"IDAT", _PNG_END, b"tRNS", b"gAMA", b"cHRM", b"sRGB", b"iCCP", b"sBIT")
)
_AROUND = 12  # bytes of a part's length, name and checksum

_START, _END, _SCAN, _COMMENT = 0xD8, 0xD9, 0xDA, 0xFE
_ALONE = frozenset((0x01, *range(0xD0, 0xD8)))  # markers without a length behind them
_APPLICATIONS = range(0xE0, 0xF0)
_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")  # within a scan other bytes may be 0xff as well
_JFIF = b"\xff\xe0\x00\x10JFIF\x00"  # one that is longer holds a small picture
_ADOBE = b"\xff\xee\x00\x0eAdobe"  # says how colours are written
_COLOURS = b"ICC_PROFILE\x00"


def without_notes(data: bytes) -> bytes:
    """The same picture, a PNG or a JPEG, with nothing in it but what it is shown by.

    Raises:
        ValueError: Its parts cannot be told.
    """
    parts = _png(data) if data.startswith(_PNG_HEAD) else _jpeg(data)
    return b"".join(parts)


def _png(data: bytes) -> Iterator[bytes]:
    yield _PNG_HEAD
    at, kind = len(_PNG_HEAD), b""
    while kind != _PNG_END:
        kind = data[at + 4 : at + 8]
        part = _piece(data, at, int.from_bytes(data[at : at + 4]) + _AROUND)
        at += len(part)
        if kind in _PNG_PARTS:
            yield part


def _jpeg(data: bytes) -> Iterator[bytes]:
    at, marker = 0, _START
    while marker != _END:
        while data[at : at + 2] == b"\xff\xff":  # any marker may be filled up in front
            at += 1
        head = _piece(data, at, 2)
        marker = head[1]
        if head[0] != 0xFF:
            raise ValueError("no marker")
        if marker in (_START, _END) or marker in _ALONE:
            part = head
        else:
            part = _piece(data, at, 2 + int.from_bytes(_piece(data, at + 2, 2)))
        if marker == _SCAN:
            part = data[at : _end_of_scan(data, at + len(part))]
        at += len(part)
        if not _is_note(part, marker):
            yield part


def _end_of_scan(data: bytes, start: int) -> int:
    found = _MARKER.search(data, start)
    if found is None:
        raise ValueError("no end")
    return found.start()


def _is_note(part: bytes, marker: int) -> bool:
    if marker in _APPLICATIONS:
        return not (part.startswith((_JFIF, _ADOBE)) or part[4:].startswith(_COLOURS))
    return marker == _COMMENT


def _piece(data: bytes, at: int, length: int) -> bytes:
    piece = data[at : at + length]
    if len(piece) < length:
        raise ValueError("it breaks off")
    return piece
