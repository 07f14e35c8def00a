"""Remains of erased data: in the database's own files, spooled runs and the choices of filters.

SQLite overwrites deleted rows (`secure_delete`, see `config.databases`), except in its trigram index,
which only marks them until its segments are merged, and in the write-ahead log. In PostgreSQL, VACUUM
frees their space for new rows, and VACUUM FULL writes new files. Each machine has a spool of its own.
A digest of each erased run tells every process to drop its file.
"""

from collections.abc import Callable, Iterable
from datetime import timedelta
from hashlib import blake2b
import time
from uuid import UUID

from django.apps import apps
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from copilot_admin.config.databases import without_statement_timeout
from copilot_admin.models import ErasedRun, Feedback, SeenKind, SeenValue
from copilot_admin.models.privacy import DIGEST_LENGTH
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.sql import in_batches

SEARCH_INDEX = "copilot_admin_turntext_trigrams"
MERGED_PAGES = 200  # in one statement, about 20 ms
# Readers keep the log, and writers wait while it is truncated, so that gives up soon.
TRUNCATE_TIMEOUT_MS = 50
OLDER_TRANSACTIONS = """
SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
  AND pid <> pg_backend_pid() AND xact_start < %s)
"""
MAX_WAIT_SECONDS = 20
DIGEST_LIFETIME = timedelta(days=90)  # empty the spool of a machine that was off for longer
MAX_DIGESTS = 500  # in one statement
_PERSON = b"erased-run"


def merge_search_index(*, is_first: bool) -> bool:
    """Merge a part of SQLite's search index, in a transaction; return True when it is done.

    The first call begins a merge of all segments, the others continue it.
    """
    if connection.vendor != "sqlite":
        return True
    pages = -MERGED_PAGES if is_first else MERGED_PAGES
    with connection.cursor() as cursor:
        [before] = cursor.execute("SELECT total_changes()").fetchone()
        cursor.execute(
            f"INSERT INTO {SEARCH_INDEX}({SEARCH_INDEX}, rank) VALUES ('merge', %s)",  # noqa: S608  # a constant
            [pages],
        )
        [after] = cursor.execute("SELECT total_changes()").fetchone()
    return bool(after - before < 2)  # sqlite.org/fts5.html: then there was nothing to merge


def truncate_wal() -> bool:
    """Empty SQLite's write-ahead log, outside of a transaction; return False if it is being read."""
    if connection.vendor != "sqlite":
        return True
    with connection.cursor() as cursor:
        [timeout_ms] = cursor.execute("PRAGMA busy_timeout").fetchone()
        try:
            cursor.execute(f"PRAGMA busy_timeout = {TRUNCATE_TIMEOUT_MS}")
            row = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {int(timeout_ms)}")
    return not row[0]


def vacuum(on_table_done: Callable[[], object] = lambda: None) -> None:
    """Vacuum each table of PostgreSQL, however long it takes, outside of a transaction."""
    if connection.vendor == "postgresql":
        with without_statement_timeout(), connection.cursor() as cursor:
            for table in get_table_names():
                cursor.execute(f"VACUUM {connection.ops.quote_name(table)}")
                on_table_done()


def rewrite_files() -> bool:
    """Write the database's files again without deleted rows, outside of a transaction.

    Tables are locked meanwhile, and the disk needs the same space again. Returns False if nothing was
    done, because an old transaction may still need deleted rows.
    """
    with without_statement_timeout(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("VACUUM")
            return True
        if not _wait_for_transactions(cursor):
            return False
        for table in get_table_names():
            cursor.execute(f"VACUUM FULL {connection.ops.quote_name(table)}")
    return True


def _wait_for_transactions(cursor: CursorWrapper) -> bool:
    cursor.execute("SELECT clock_timestamp()")
    [now] = cursor.fetchone()
    for _ in range(MAX_WAIT_SECONDS):
        cursor.execute(OLDER_TRANSACTIONS, [now])
        if not cursor.fetchone()[0]:
            return True
        time.sleep(1)
    return False


def get_table_names() -> list[str]:
    models = apps.get_app_config("copilot_admin").get_models()
    return sorted(model._meta.db_table for model in models)


def get_digest(run_id: UUID) -> str:
    return blake2b(run_id.bytes, digest_size=DIGEST_LENGTH // 2, person=_PERSON).hexdigest()


def store_digests(run_ids: Iterable[UUID]) -> None:
    now = timezone.now()
    rows = [ErasedRun(digest=get_digest(run_id), erased_at=now) for run_id in run_ids]
    ErasedRun.objects.bulk_create(rows, ignore_conflicts=True)


def delete_old_digests() -> None:
    ErasedRun.objects.filter(erased_at__lt=timezone.now() - DIGEST_LIFETIME).delete()


def delete_spooled(run_ids: Iterable[UUID]) -> None:
    """Delete the files of runs from this machine's spool, after their rows were deleted."""
    for run_id in run_ids:
        SPOOL.remove_run(run_id)


def clean_spool() -> int:
    """Delete the files of erased runs from this machine's spool; return the number of runs."""
    by_digest = {get_digest(run_id): run_id for run_id in SPOOL.run_ids()}
    erased: list[str] = []
    for some in in_batches(list(by_digest), MAX_DIGESTS):
        found = ErasedRun.objects.filter(digest__in=some)
        erased += found.values_list("digest", flat=True)
    delete_spooled(by_digest[digest] for digest in erased)
    return len(erased)


def find_unused_reasons() -> list[int]:
    """Return keys of feedback reasons in the filter's choices that no feedback has.

    It reads all feedback, so don't call it on the writer. A reason that comes back in the meantime is
    added to the choices within the hour.
    """
    reasons = SeenValue.objects.filter(kind=SeenKind.REASON).order_by().values_list("value", "pk")
    unused = dict(reasons)
    if unused:
        for tags in Feedback.objects.order_by().values_list("tags", flat=True).iterator():
            for tag in tags:
                unused.pop(tag, None)
    return list(unused.values())
