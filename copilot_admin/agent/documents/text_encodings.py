"""Text files in any common encoding, and RTF.

A byte order mark or UTF-8 is certain, other encodings are guessed.
"""

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE, BOM_UTF32_BE, BOM_UTF32_LE
from collections.abc import Iterator
import re

from charset_normalizer import from_bytes
from striprtf.striprtf import rtf_to_text

from copilot_admin.agent.documents.document import DocumentPage, Format, UnreadableFile
from copilot_admin.agent.text import SUPERSCRIPTS

# Longer marks first: that of UTF-32 begins with that of UTF-16.
_BYTE_ORDER_MARKS = {
    BOM_UTF32_LE: "utf-32",
    BOM_UTF32_BE: "utf-32",
    BOM_UTF16_LE: "utf-16",
    BOM_UTF16_BE: "utf-16",
}
_WINDOWS = ("cp1252", "cp1250", "cp1254")  # of text in Latin letters
MIN_HIGH_BYTES = 4  # fewer don't distinguish encodings
SAMPLE_BYTES = 64 * 1024  # guessing from them needs up to 40 ms
MAX_DAMAGED_SHARE = 0.02  # of the characters; binary data has about a tenth
_DECLARED = re.compile(rb"charset=[\"']?([A-Za-z0-9_.:-]{2,30})", re.IGNORECASE)
_HIGH_LINES = re.compile(rb"[^\n]{0,200}[\x80-\xff][^\n]{0,200}")
_HIGH = re.compile(rb"[\x80-\xff]")
_LETTERS = re.compile(rb"[A-Za-z]")
_SUPERSCRIPT = re.compile(r"(\\super(?:\\[a-z]+-?\d*)* ?)(\d+)")  # of RTF
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f]")
GUESSED = "[read as {encoding}, which is a guess: some letters may be wrong]"
DAMAGED = "[{count} characters could not be read and stand as \ufffd]"
UNKNOWN = "The encoding of its text is not known. Save it as UTF-8 and attach it again."


def decode_text(data: bytes) -> tuple[str, str]:
    """Return the text of some bytes, and a note on possible errors in it.

    Raises:
        UnreadableFile: They are in an unknown encoding.
        ValueError: They are not text.
    """
    data = data.removeprefix(BOM_UTF8)  # some programs prepend it to other encodings
    if encoding := _find_wide_encoding(data):
        return _decode(data, encoding)
    if b"\0" in data:
        raise ValueError("binary")
    try:
        return data.decode(), ""
    except UnicodeDecodeError:
        sample = b"\n".join(_HIGH_LINES.findall(data))[:SAMPLE_BYTES]
    high_bytes = len(_HIGH.findall(sample))
    if sample.decode(errors="replace").count("\ufffd") * 10 < high_bytes:
        return _decode(data, "utf-8")  # with a few broken characters
    encoding = _guess_encoding(sample) if high_bytes >= MIN_HIGH_BYTES else "cp1252"
    readings = {sample.decode(one, "replace") for one in (encoding, *_WINDOWS)}
    return _decode(data, encoding, GUESSED.format(encoding=encoding) if len(readings) > 1 else "")


def decode_html(data: bytes) -> tuple[str, str]:
    """Return the text of a page in the encoding that it declares, and a note."""
    found = _DECLARED.search(data[:2048])
    if found and not _find_wide_encoding(data):
        try:
            return data.decode(found[1].decode("ascii")), ""
        except (LookupError, UnicodeDecodeError):
            pass
    return decode_text(data)


def is_probably_text(data: bytes) -> bool:
    """Return true if bytes appear to be text, in one encoding or another."""
    return bool(_find_wide_encoding(data)) or not _CONTROLS.search(data)


def _find_wide_encoding(data: bytes) -> str:
    """Return UTF-16 or UTF-32 by its mark, UTF-16 by the zeros of plain letters, or ""."""
    for mark, encoding in _BYTE_ORDER_MARKS.items():
        if data.startswith(mark):
            return encoding
    zeros = data[:SAMPLE_BYTES:2].count(0), data[1:SAMPLE_BYTES:2].count(0)
    is_wide = max(zeros) * 4 >= len(data[:SAMPLE_BYTES]) and not min(zeros)
    if not is_wide or len(data) % 2:
        return ""
    return "utf-16-be" if zeros[0] else "utf-16-le"


def _guess_encoding(sample: bytes) -> str:
    is_latin = len(_HIGH.findall(sample)) * 2 <= len(_LETTERS.findall(sample))
    matches = list(from_bytes(sample, cp_isolation=list(_WINDOWS))) if is_latin else []
    matches = matches or list(from_bytes(sample))
    if not matches:
        raise UnreadableFile(UNKNOWN)
    best = min(matches, key=lambda one: (one.chaos, -one.coherence, one.encoding != "cp1252"))
    return best.encoding


def _decode(data: bytes, encoding: str, note: str = "") -> tuple[str, str]:
    text = data.decode(encoding, "replace")
    damaged = text.count("\ufffd")
    if damaged > max(MAX_DAMAGED_SHARE * len(text), 1):
        raise UnreadableFile(UNKNOWN)
    notes = (note, DAMAGED.format(count=damaged) if damaged else "")
    return text, " ".join(filter(None, notes))


def _read(data: bytes) -> Iterator[DocumentPage]:
    text, note = decode_text(data)
    yield DocumentPage(number=1, text=text, note=note)


TEXT = Format(
    data_types=(
        *("txt", "csv", "tsv", "md", "json", "jsonl"),
        *("yaml", "yml", "log", "xml", "ini", "toml"),
    ),
    label="text file",
    read=_read,
    is_text=True,
)


def _write_superscript(found: re.Match[str]) -> str:
    return found[1] + "".join(f"\\u{ord(one)}?" for one in found[2].translate(SUPERSCRIPTS))


def _read_rtf(data: bytes) -> Iterator[DocumentPage]:
    source = _SUPERSCRIPT.sub(_write_superscript, data.decode("latin-1"))
    text = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
    lines = (line.rstrip() for line in text.splitlines())
    yield DocumentPage(number=1, text="\n".join(lines).strip())


RTF = Format(data_types=("rtf",), label="RTF file", read=_read_rtf)
