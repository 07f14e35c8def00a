"""Looks at the parts of a form before Django takes them apart.

What stands in the head of a part is read by Python's parser for mails, which takes a microsecond for each
parameter, and a hundred times as long where one says that it is in Punycode. And of files without a name
Django counts none. 20 MB of such parts, which anybody may send to any page, took 20 seconds, in which no
other form was read.
"""

from collections.abc import Iterator

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.http.multipartparser import MultiPartParserError

LONGEST_HEAD = 1024  # bytes; Django reads no longer one
# What is searched in one call, in which no other thread runs: 19 MB of dashes took 57 ms.
PIECE_BYTES = 1024 * 1024
MOST_PARAMETERS = 30  # of all lines of a head; browsers send two, and names of files may have some
# In which a parameter may say that it is encoded (RFC 5987, 3.2); browsers encode none.
ENCODINGS = frozenset({b"", b"utf-8", b"utf8", b"iso-8859-1", b"us-ascii"})
_AROUND = 2  # what stands before the first delimiter and behind the last one is a part to Django


def check_parts(body: bytes, boundary: bytes) -> None:
    """Refuses a form whose parts would take long to read.

    Raises:
        TooManyFieldsSent: It has more parts than fields and files are read of one.
        MultiPartParserError: A part says far more of itself than any browser does.
    """
    delimiter = b"--" + boundary
    most = most_parts()
    for number, head in enumerate(_heads(body, delimiter), start=1):
        if number > most:
            raise TooManyFieldsSent("The form has too many parts.")
        if _is_laboured(head):
            raise MultiPartParserError("The head of a part is none that a browser sends.")


def most_parts() -> int:
    """How many delimiters a form may have."""
    return int(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS or 0) + most_files() + _AROUND


def most_files() -> int:
    """How many files are read of a form."""
    return int(settings.DATA_UPLOAD_MAX_NUMBER_FILES or 0)


def _heads(body: bytes, delimiter: bytes) -> Iterator[bytes]:
    """What may be the head of each part."""
    behind = 0
    for start in range(0, len(body), PIECE_BYTES):
        end = start + PIECE_BYTES + len(delimiter) - 1  # of delimiters that begin in the piece
        while (at := body.find(delimiter, max(behind, start), end)) >= 0:
            behind = at + len(delimiter)
            yield body[behind : behind + LONGEST_HEAD].partition(b"\r\n\r\n")[0]


def _is_laboured(head: bytes) -> bool:
    """Whether a head would take far longer to read than those of browsers."""
    return head.count(b";") > MOST_PARAMETERS or not ENCODINGS.issuperset(_encodings(head))


def _encodings(head: bytes) -> Iterator[bytes]:
    for given in head.split(b"*=")[1:]:
        encoding, quote, _ = given.partition(b"'")
        if quote:
            yield encoding.strip(b' \t"').lower()
