"""Ends of runs that the database couldn't store, stored when it answers again."""

from functools import partial
from itertools import islice
import logging
from pathlib import Path
from typing import cast

from django.db import DataError, IntegrityError, transaction
from pydantic import TypeAdapter

from copilot_admin.storage.spool import SPOOL, Spool
from copilot_admin.transcripts.store.end_rows import finish
from copilot_admin.transcripts.store.run_end import RunEnd
from protocol.json import JsonObject

MAX_RUNS = 50  # of one job, which delays requests
_RUN_END = TypeAdapter(RunEnd)
logger = logging.getLogger(__name__)


def spool_end(end: RunEnd, spool: Spool = SPOOL) -> None:
    """Write the end of a run to the disk.

    Raises:
        OSError: The disk or the spool is full.
    """
    spool.put(end.run_id, end_to_json(end))


def end_to_json(end: RunEnd) -> JsonObject:
    return cast(JsonObject, _RUN_END.dump_python(end, mode="json", exclude={"was_checkpointed"}))


def end_from_json(data: JsonObject) -> RunEnd:
    """Parse what `end_to_json` returned.

    Raises:
        ValueError: It has another format.
    """
    return _RUN_END.validate_python(data)


def replay_spool(*, limit: int = MAX_RUNS) -> int:
    """Store the ends of some spooled runs; at a start, call it before `reap`.

    A file is removed when its run is committed. One that can't be read or stored is set aside. Only
    one of several processes with the same spool does it at a time.

    Returns:
        Runs that were stored.

    Raises:
        Error: The database is unavailable; the files stay.
    """
    with SPOOL.lock() as is_locked:
        entries = SPOOL.entries() if is_locked else ()
        return sum(_replay(path, entry) for path, entry in islice(entries, limit))


def _replay(path: Path, entry: JsonObject) -> bool:
    try:
        end = end_from_json(entry)
        with transaction.atomic():
            is_stored = finish(end) is not None
    except (ValueError, OverflowError, DataError, IntegrityError) as error:
        logger.warning("the spooled run %s was set aside: %s", path.stem, type(error).__name__)
        SPOOL.reject(path)
        return False
    transaction.on_commit(partial(SPOOL.remove, path))
    return is_stored
