"""Reads text in whatever encoding it was written, and says where that is a guess.

A byte order mark says it, and so does UTF-8, which no other encoding is by chance. Of UTF-16 and
UTF-32 without a mark every second byte of plain letters is zero. What is none of them is guessed
(see `guessed_encodings.py`).
"""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator
from dataclasses import dataclass
import re
import unicodedata

from copilot_admin.agent.documents.guessed_encodings import guess
from copilot_admin.agent.documents.registry import UnreadableFile

# Each before those whose mark begins with its own.
_MARKS = (
    (BOM_UTF32_LE, "utf-32"),
    (BOM_UTF32_BE, "utf-32"),
    (BOM_UTF16_LE, "utf-16"),
    (BOM_UTF16_BE, "utf-16"),
    (BOM_UTF8, "utf-8-sig"),
)
_SAMPLE = 64 * 1024  # bytes; guessing takes up to 40 ms for them
_BEFORE = 200  # bytes of a long line before what shows its encoding
_SHORTEST_PLAIN = 16  # bytes; of Chinese in UTF-16 half are letters by chance
_HIGH = re.compile(rb"[\x80-\xff]+")
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_PRINTABLE = bytes(range(0x20, 0x7F)) + b"\t\r\n"
_LOOKED_AT = 20_000  # characters
_MOST_ODD = 0.02  # of them; of bytes that are no text a tenth
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
    """The text that the bytes are.

    Raises:
        UnreadableFile: They are in an encoding that is not known.
        ValueError: They are no text.
    """
    data = data.removeprefix(BOM_UTF8)  # some programs write it before text that is none
    mark = _marked(data)
    data = data[2:] if mark == "utf-16" and _is_plain_behind(data[2:]) else data
    encoding = _marked(data) or _wide(data)
    if encoding:
        return _read(data, encoding)
    if b"\0" in data:
        raise ValueError("binary")
    if _is_switching(data):
        return _read(data, "iso2022_jp")
    try:
        return DecodedText(data.decode())
    except UnicodeDecodeError:
        sample = _sample(data)
    return _read(data, "utf-8") if _is_nearly_utf8(sample) else _guessed(data, sample)


def looks_like_text(data: bytes) -> bool:
    """Whether the bytes are text at a first look, in one encoding or another."""
    if _marked(data) or _wide(data):
        return True
    return not _CONTROLS.search(data)


def _marked(data: bytes) -> str:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "")


def _is_plain_behind(data: bytes) -> bool:
    head = data[:_SAMPLE]
    return len(head) >= _SHORTEST_PLAIN and looks_like_text(head) and _is_ascii(head)


def _wide(data: bytes) -> str:
    """UTF-16 or UTF-32 without a mark, by where the zeros are; empty when it is neither."""
    head = data[:_SAMPLE]
    number = head.count(0)
    if not number or len(head) % 2 or (number * 10 < len(head) and _is_ascii(head)):
        return ""  # a zero or two in plain text are damage
    zeros = [head[place::4].count(0) for place in range(4)]
    most = len(head) // 4 * 0.9
    if most and min(zeros[2:]) >= most:
        encoding = "utf-32-le"
    elif most and min(zeros[:2]) >= most:
        encoding = "utf-32-be"
    else:
        encoding = "utf-16-le" if zeros[1] + zeros[3] > zeros[0] + zeros[2] else "utf-16-be"
    return encoding if _is_text(head.decode(encoding, "replace")) else ""


def _is_ascii(head: bytes) -> bool:
    return len(head.translate(None, _PRINTABLE)) * 5 < len(head)


def _read(data: bytes, encoding: str, note: str = "") -> DecodedText:
    """The text in this encoding; single characters may be damaged.

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
    head = text[:_LOOKED_AT]
    odd = sum(unicodedata.category(one) in _NO_TEXT and one not in _BLANKS for one in head)
    return odd + head.count("\ufffd") <= max(_MOST_ODD * len(head), 1)


def _sample(data: bytes) -> bytes:
    if len(data) <= _SAMPLE:
        return data
    return b"\n".join(_telling_lines(data))


def _telling_lines(data: bytes) -> Iterator[bytes]:
    room = _SAMPLE
    for line in data.split(b"\n"):
        found = _HIGH.search(line)
        if found:
            start = max(found.start() - _BEFORE, 0)
            part = line[start : start + room]
            yield part
            room -= len(part) + 1
        if room <= 0:
            return


def _is_nearly_utf8(sample: bytes) -> bool:
    text = sample.decode("utf-8", "replace")
    damage = text.count("\ufffd")
    letters = sum(not one.isascii() for one in text) - damage
    return letters >= 10 * damage


def _guessed(data: bytes, sample: bytes) -> DecodedText:
    """The text in the encoding that is likely.

    Raises:
        UnreadableFile: None is.
    """
    guessed = guess(sample)
    if guessed is None:
        raise UnreadableFile(UNKNOWN)
    note = "" if guessed.is_sure else GUESSED.format(encoding=guessed.encoding)
    return _read(data, guessed.encoding, note)


def _is_switching(data: bytes) -> bool:
    return data.isascii() and (b"\x1b$B" in data or b"\x1b$@" in data) and b"\x1b(" in data
