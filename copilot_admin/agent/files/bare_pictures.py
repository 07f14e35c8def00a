"""Takes out of a picture what is not needed to show it: where and by whom it was made, and what stands behind it.

The pixels stay as they came, since only whole parts go: writing a screen's picture anew takes some
tenths of a second, and makes a photograph worse.
Sources: PNG (third edition), 5 and 11; JPEG (ITU-T T.81), annex B.
"""

from collections.abc import Iterator
import re

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
