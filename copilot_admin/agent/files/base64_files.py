"""Files in base64."""

from base64 import b64decode
import binascii
from codecs import getincrementaldecoder

from copilot_admin.agent.documents.document import UnreadableFile
from copilot_admin.agent.documents.text_encodings import looks_like_text
from copilot_admin.agent.fetching.egress import MAX_BYTES

_MIN_LENGTH = 24  # characters; a shorter word may look like base64 by chance
_MIN_LINE = 60  # characters of base64 in lines: 64 or 76 are usual
_MAX_WORD = 200  # characters; a longer one is no word of any language
_BLANKS = b" \t\r\n\v\f"
_DATA_URL = "data:"
_LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_HEAD = 4096  # characters that show whether all is base64


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
    if content.startswith(_DATA_URL.encode()):
        content = content.partition(b",")[2]
    try:
        return b64decode(content.translate(None, _BLANKS), validate=True)
    except binascii.Error as error:
        raise UnreadableFile("Its content is not base64.") from error


def decoded_size(content: str) -> int:
    """Return how many bytes a file in base64 has, without decoding it."""
    start = content.find(",") + 1 if content.startswith(_DATA_URL) else 0
    padding = len(content) - len(content[-2:].rstrip("=")) - max(len(content) - 2, 0)
    return (len(content) - start) * 3 // 4 - padding


def starts_like_base64(content: str) -> bool:
    """Return whether a file of an unknown kind came in base64, by its beginning."""
    if content.startswith(_DATA_URL):
        return True
    head = content[:_MAX_WORD].strip()
    is_long = bool(head) and len(content) >= _MAX_WORD and head.isascii()
    return is_long and not head.encode().translate(None, _LETTERS + b"\r\n") and _is_one_block(head)


def is_plain_text(content: str) -> bool:
    """Return whether a text file came as it is and not in base64, by its beginning."""
    is_short = len(content) < _MIN_LENGTH and not content.endswith("=")  # as hardly a text does
    if is_short or not content.isascii():
        return True
    head = content[:_HEAD].encode()
    if not head.startswith(_DATA_URL.encode()) and head.translate(None, _BLANKS + _LETTERS):
        return True
    try:
        data = decode_base64(_whole_groups(head, is_cut=len(content) > _HEAD))
    except UnreadableFile:
        return True
    try:
        getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:  # words without signs between them are base64 by chance
        is_long = len(content) >= _MAX_WORD
        return not (_is_one_block(content) and (is_long or looks_like_text(data)))
    return False


def _whole_groups(head: bytes, *, is_cut: bool) -> bytes:
    start, comma, body = head.rpartition(b",")
    body = body.translate(None, _BLANKS)
    return start + comma + (body[: len(body) // 4 * 4] if is_cut else body)


def _is_one_block(content: str) -> bool:
    *lines, _ = content.strip()[:_HEAD].splitlines()
    widths = set(map(len, lines))
    return " " not in content and (not lines or (len(widths) == 1 and min(widths) >= _MIN_LINE))
