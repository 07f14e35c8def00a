"""What a PDF says of its size, looked at before it is read.

It says how many pages it has and how long each of its streams is, in words that can be found without
reading it unless they are packed. A file that says nothing, or less than is true, is ended by the
limits of its process.
"""

from itertools import islice
import re

from copilot_admin.agent.documents.formats import UnreadableFile

# Measured: 10,000 small pages take a few seconds to be counted, of which 300 are read.
MOST_PAGES = 10_000
_MOST_CLAIMS = 100_000  # a report of 1,000 pages makes 20,000
# "/Length 12 0 R" says that the length stands elsewhere; longer numbers than ten digits are no sizes.
_CLAIM = re.compile(rb"/(Count|Length)\s{1,4}+(\d{1,10}+)(?!\d|\s{1,4}+\d{1,5}+\s{1,4}+R)")


def check_claims(data: bytes) -> None:
    """Refuses a PDF that says of itself that it is more than can be read.

    Raises:
        UnreadableFile: It has too many pages, or less in it than it says.
    """
    for claim in islice(_CLAIM.finditer(data), _MOST_CLAIMS):
        number = int(claim[2])
        if claim[1] == b"Count" and number > MOST_PAGES:
            raise UnreadableFile(f"It has more than {MOST_PAGES:,} pages. Attach a part of it.")
        if claim[1] == b"Length" and number > len(data):
            raise UnreadableFile("It says that it is longer than it is. Attach it again.")
