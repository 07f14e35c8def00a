"""Find out whether the database takes a write, with one that leaves nothing behind."""

import os

from copilot_admin.models import Blob

_NAME = "probe"  # no hash: no blob has it
SIZE = 64 * 1024  # bytes; as much as a long answer takes


def probe() -> None:
    """Writes something as big as an answer and takes it away; the commit needs room for both.

    Raises:
        Error: Of the database, which is still full, locked or away.
    """
    Blob.objects.filter(sha256=_NAME).delete()
    Blob.objects.create(sha256=_NAME, data=os.urandom(SIZE), size=SIZE)
    Blob.objects.filter(sha256=_NAME).delete()
