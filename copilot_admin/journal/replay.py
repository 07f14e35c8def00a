"""Bring what the spool holds into the database."""

import logging
from pathlib import Path

from django.db import DatabaseError, transaction

from copilot_admin.journal.finishing import finish
from copilot_admin.journal.sealing import Sealed, from_json
from copilot_admin.spool import SPOOL

logger = logging.getLogger(__name__)


def replay_spool() -> int:
    """Stores the ends of runs that were spooled; run it at a start, before `reap`.

    A file goes when its entries are committed; one with an entry that cannot be read or stored
    stays under another name.

    Returns:
        Runs that were stored.
    """
    return sum(_replay(path) for path in SPOOL.files())


def _replay(path: Path) -> int:
    stored, bad = 0, 0
    for entry in SPOOL.entries(path):
        try:
            sealed: Sealed = from_json(entry)
            with transaction.atomic():
                stored += finish(sealed)
        except (KeyError, TypeError, ValueError, DatabaseError) as error:
            bad += 1
            logger.warning("spooled run %s: %s", entry.get("run_id"), type(error).__name__)
    kept = path.with_suffix(".bad")
    transaction.on_commit(lambda: path.replace(kept) if bad else path.unlink(missing_ok=True))
    return stored
