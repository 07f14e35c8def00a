"""Files in base64."""

from base64 import b64decode
import binascii
from codecs import getincrementaldecoder
import re

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.text_encodings import is_probably_text
from copilot_admin.agent.fetching.egress import MAX_BYTES

_MIN_LENGTH = 24  # characters; shorter text may look like base64 by chance
_MIN_LONG = 200  # characters; longer than any natural term
_HEAD = 4096  # characters that are checked
_BLANKS = b" \t\r\n\v\f"
_DATA_URL = re.compile(r"data:[^,\s]*,")
# One block, or lines of 60 characters and more: 64 or 76 are usual.
_BLOCK = re.compile(r"\s*(?:[\w+/]{60,}\r?\n)*[\w+/]*={0,2}\s*", re.ASCII)


def check_base64(content: str) -> None:
    """Check a file before it is decoded.

    Raises:
        UnreadableFile: It is larger than a file may be, or no base64.
    """
    if len(content) > MAX_BYTES * 4 // 3:
        raise UnreadableFile(f"It is larger than {MAX_BYTES // 2**20} MB.")
    if not content.isascii():
        raise UnreadableFile("Its content is not base64.")


def decode_base64(content: bytes) -> bytes:
    """Return the bytes of a file in base64, with or without the start of a `data:` URL.

    Raises:
        UnreadableFile: It is not base64.
    """
    if content.startswith(b"data:"):
        content = content.partition(b",")[2]
    try:
        return b64decode(content.translate(None, _BLANKS), validate=True)
    except binascii.Error as error:
        raise UnreadableFile("Its content is not base64.") from error


def decoded_size(content: str) -> int:
    """Return the number of bytes of a file in base64, without decoding it."""
    url = _DATA_URL.match(content)
    length = len(content) - (url.end() if url else 0)
    return length * 3 // 4 - content[-2:].count("=")


def starts_like_base64(content: str) -> bool:
    """Return true if the start of a file of an unknown kind is base64."""
    is_long = len(content) >= _MIN_LONG and not content[:_MIN_LONG].isspace()
    is_block = is_long and _BLOCK.fullmatch(content, 0, _HEAD) is not None
    return is_block or _DATA_URL.match(content) is not None


def is_plain_text(content: str) -> bool:
    """Return true if the start of a text file is plain text and not base64."""
    url = _DATA_URL.match(content)
    start = url.end() if url else 0
    is_short = len(content) < _MIN_LENGTH and not content.endswith("=")  # rare in text
    if is_short or not _BLOCK.fullmatch(content, start, start + _HEAD):
        return True
    head = content[start : start + _HEAD].encode().translate(None, _BLANKS)
    try:
        data = decode_base64(head[: len(head) // 4 * 4])
    except UnreadableFile:
        return True
    try:
        getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return len(content) < _MIN_LONG and not is_probably_text(data)
    return False
