"""Decodes text of any common encoding: a byte order mark and UTF-8 are certain, others a guess."""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator
from dataclasses import dataclass
import re
import unicodedata

from charset_normalizer import CharsetMatch, from_bytes

from copilot_admin.agent.documents.formats import UnreadableFile

# Longer marks first: that of UTF-32 begins with that of UTF-16.
_BYTE_ORDER_MARKS = (
    (BOM_UTF32_LE, "utf-32"),
    (BOM_UTF32_BE, "utf-32"),
    (BOM_UTF16_LE, "utf-16"),
    (BOM_UTF16_BE, "utf-16"),
)
_WINDOWS = ("cp1252", "cp1250", "cp1254")  # of text in Latin letters
_MIN_HIGH_BYTES = 4  # of fewer no encoding can be told
_SAMPLE_BYTES = 64 * 1024  # guessing takes up to 40 ms for them
_BYTES_BEFORE = 200  # of a long line, before the first byte that is not ASCII
_HIGH = re.compile(rb"[\x80-\xff]+")
_PLAIN = re.compile(rb"[A-Za-z]")
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_CHECKED_CHARACTERS = 20_000
_MAX_ODD_SHARE = 0.02  # of these characters; of bytes that are no text a tenth are odd
_NO_TEXT = frozenset({"Cc", "Cn", "Co", "Cs"})
_BLANKS = frozenset("\t\n\r\f\v\x1a\x1b\x85")
GUESSED = "[read as {encoding}, which is a guess: some letters may be wrong]"
DAMAGED = "[{count} characters could not be read and stand as \ufffd]"
UNKNOWN = "The encoding of its text is not known. Save it as UTF-8 and attach it again."


@dataclass(frozen=True, slots=True)
class DecodedText:
    """The text of some bytes; `note` says what may be wrong with it, or nothing."""

    text: str
    note: str = ""


def decode_text(data: bytes) -> DecodedText:
    """Decode bytes.

    Raises:
        UnreadableFile: They are in an unknown encoding.
        ValueError: They are no text.
    """
    data = data.removeprefix(BOM_UTF8)  # some programs write it before other encodings
    encoding = _encoding_of_mark(data) or _utf16_without_mark(data)
    if encoding:
        return _read(data, encoding)
    if b"\0" in data:
        raise ValueError("binary")
    try:
        return DecodedText(data.decode())
    except UnicodeDecodeError:
        sample = b"\n".join(_lines_with_high_bytes(data))
    if _is_nearly_utf8(sample):
        return _read(data, "utf-8")
    encoding = _guess_encoding(sample)
    return _read(data, encoding, _note_of_guess(sample, encoding))


def looks_like_text(data: bytes) -> bool:
    """Whether the bytes are text at a first look, in one encoding or another."""
    is_wide = bool(_encoding_of_mark(data) or _utf16_without_mark(data))
    return is_wide or not _CONTROLS.search(data)


def _encoding_of_mark(data: bytes) -> str:
    return next((name for mark, name in _BYTE_ORDER_MARKS if data.startswith(mark)), "")


def _utf16_without_mark(data: bytes) -> str:
    """UTF-16 of mostly plain letters, by the place of the zeros; empty when it is none."""
    head = data[:_SAMPLE_BYTES]
    first, second = head[::2].count(0), head[1::2].count(0)
    if len(data) % 2 or max(first, second) * 4 < len(head) or min(first, second):
        return ""
    return "utf-16-be" if first else "utf-16-le" if second else ""


def _guess_encoding(sample: bytes) -> str:
    """The likely encoding.

    Raises:
        UnreadableFile: None is likely.
    """
    high_bytes = sum(map(len, _HIGH.findall(sample)))
    if high_bytes < _MIN_HIGH_BYTES:
        return _WINDOWS[0]
    is_latin = high_bytes * 2 <= len(_PLAIN.findall(sample))
    matches = is_latin and list(from_bytes(sample, cp_isolation=list(_WINDOWS)))
    matches = matches or list(from_bytes(sample))
    if not matches:
        raise UnreadableFile(UNKNOWN)
    return min(matches, key=_rank).encoding


def _rank(match: CharsetMatch) -> tuple[float, float, bool]:
    return match.chaos, -match.coherence, _WINDOWS[0] not in match.could_be_from_charset


def _note_of_guess(sample: bytes, encoding: str) -> str:
    readings = {sample.decode(one, "replace") for one in (encoding, *_WINDOWS)}
    return GUESSED.format(encoding=encoding) if len(readings) > 1 else ""


def _read(data: bytes, encoding: str, note: str = "") -> DecodedText:
    """Decode in a given encoding; single characters may be damaged.

    Raises:
        UnreadableFile: More than that is no text.
    """
    text = data.decode(encoding, "replace")
    if not _is_text(text):
        raise UnreadableFile(UNKNOWN)
    damage = text.count("\ufffd")
    notes = (note, DAMAGED.format(count=damage) if damage else "")
    return DecodedText(text, " ".join(filter(None, notes)))


def _is_text(text: str) -> bool:
    head = text[:_CHECKED_CHARACTERS]
    odd = sum(unicodedata.category(one) in _NO_TEXT and one not in _BLANKS for one in head)
    return odd + head.count("\ufffd") <= max(_MAX_ODD_SHARE * len(head), 1)


def _lines_with_high_bytes(data: bytes) -> Iterator[bytes]:
    left = _SAMPLE_BYTES
    for line in data.split(b"\n"):
        found = _HIGH.search(line)
        if found:
            start = max(found.start() - _BYTES_BEFORE, 0)
            part = line[start : start + left]
            yield part
            left -= len(part) + 1
        if left <= 0:
            return


def _is_nearly_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", "replace")
    damage = text.count("\ufffd")
    letters = sum(not one.isascii() for one in text) - damage
    return letters >= 10 * damage
