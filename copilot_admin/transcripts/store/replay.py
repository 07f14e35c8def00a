"""Bring what the spool holds into the database."""

from functools import partial
from itertools import islice
import logging
from pathlib import Path

from django import db
from django.db import DataError, IntegrityError, transaction

from copilot_admin.storage.spool import SPOOL
from copilot_admin.transcripts.store.finishing import finish
from copilot_admin.transcripts.store.probing import try_statements
from copilot_admin.transcripts.store.sealing import from_json
from protocol.json import JsonObject

# What comes of a file that was not written by `to_json`: fields that are missing, of another type or
# too large. Whoever lets one of them pass lets no server start any more.
UNFIT = (
    KeyError, TypeError, ValueError, AttributeError, OverflowError, DataError, IntegrityError,
)  # fmt: skip
MAX_RUNS = 50  # stored in one job, behind which requests wait
logger = logging.getLogger(__name__)


def replay_spool(*, most: int = MAX_RUNS) -> int:
    """Stores the ends of runs that were spooled; at a start, do it before `reap`.

    A file goes when its run is committed; one that cannot be read or stored is set aside. Of several
    processes with one spool only one does it at a time: the others would wait for its rows.

    Args:
        most: Files to look at.

    Returns:
        Runs that were stored.

    Raises:
        Error: Of the database, also where it refuses whatever is written: the files stay.
    """
    with SPOOL.lock() as is_ours:
        entries = SPOOL.entries() if is_ours else ()
        return sum(_replay(path, entry) for path, entry in islice(entries, most))


def _replay(path: Path, entry: JsonObject) -> bool:
    try:
        sealed = from_json(entry)
        with transaction.atomic():
            stored = finish(sealed) is not None
    except UNFIT as error:
        if isinstance(error, db.Error):
            try_statements()  # where it is refused as well, the file is not to blame
        logger.warning("the spooled run %s was set aside: %s", path.stem, type(error).__name__)
        SPOOL.reject(path)
        return False
    transaction.on_commit(partial(SPOOL.remove, path))
    return stored
