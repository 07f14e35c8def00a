"""Files in base64, as they stand in a request."""

from base64 import b64decode
import binascii

from copilot_admin.agent.documents.registry import UnreadableFile
from copilot_admin.agent.documents.text_encodings import looks_like_text
from copilot_admin.agent.fetching.sizes import MOST_BYTES

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
    if len(content) > MOST_BYTES * 4 // 3:
        raise UnreadableFile(f"It is larger than {MOST_BYTES // 2**20} MB.")
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
