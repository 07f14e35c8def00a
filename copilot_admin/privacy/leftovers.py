"""What a database still holds of rows that are gone: in its search index, its log, its free pages.

SQLite overwrites what is deleted (`secure_delete`, see `config.databases`), but for its index of
trigrams, which marks what is gone until its pieces are merged, and for the write-ahead log. Of
PostgreSQL `VACUUM` frees the place of rows that are gone; the next rows overwrite them.
"""

from collections.abc import Sequence
import re
from typing import TYPE_CHECKING

from django.apps import apps
from django.db import OperationalError, connection
from django.db.backends.utils import CursorWrapper

from copilot_admin.config.databases import without_statement_timeout
from copilot_admin.models import Feedback, SeenKind, SeenValue
from copilot_admin.storage.errors import LOCK_NOT_AVAILABLE
from copilot_admin.storage.many import by_key, delete_rows

if TYPE_CHECKING:
    from psycopg.errors import Diagnostic

INDEX = "copilot_admin_turntext_trigrams"
PAGES = 200  # of the index that are merged at once, about 20 ms
# Whoever reads keeps the log; who writes waits for whoever wants it emptied, so that one gives up soon.
PATIENCE_MS = 50
FIRST_NUMBER = re.compile(r"\D*(\d+)")
UNCHANGED = 2  # fewer rows than these changed: there was nothing to merge


def merge_search_index(*, first: bool) -> bool:
    """Merges some of SQLite's search index, so that what is deleted leaves it; in a transaction.

    Args:
        first: Whether it is to be begun with all pieces; else what was begun goes on.

    Returns:
        Whether there is nothing more to merge.
    """
    if connection.vendor != "sqlite":
        return True
    with connection.cursor() as cursor:
        before = _changes(cursor)
        cursor.execute(
            f"INSERT INTO {INDEX}({INDEX}, rank) VALUES ('merge', %s)",  # noqa: S608  # a name of ours
            [-PAGES if first else PAGES],
        )
        return _changes(cursor) - before < UNCHANGED


def empty_log() -> bool:
    """Folds SQLite's write-ahead log into its file and empties it; outside of a transaction.

    Returns:
        False: somebody reads from it; later.
    """
    if connection.vendor != "sqlite":
        return True
    with connection.cursor() as cursor:
        waited = cursor.execute("PRAGMA busy_timeout").fetchone()[0]
        try:
            cursor.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
            row = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {int(waited)}")
    return not row[0]


def vacuum() -> None:
    """Frees the place of what is deleted on PostgreSQL, however long that takes; outside of a transaction."""
    if connection.vendor != "postgresql":
        return
    with without_statement_timeout(), connection.cursor() as cursor:
        for table in tables():
            cursor.execute(f"VACUUM {connection.ops.quote_name(table)}")


def write_anew(names: Sequence[str]) -> list[str]:
    """Writes tables into new files, so that nothing of what is gone stays; outside of a transaction.

    Nobody can read or write a table meanwhile; SQLite, which has one file, needs as much room again
    on the disk.

    Args:
        names: Those of the tables.

    Returns:
        Those in which something is left: somebody reads them, or began a transaction before it was
        deleted and may still want it. Later.
    """
    with without_statement_timeout(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("VACUUM")
            return []
        return [name for name in names if not _is_clean(cursor, name)]


def _is_clean(cursor: CursorWrapper, table: str) -> bool:
    """Writes a table anew; whether no row that is deleted came along.

    PostgreSQL says how many did ("0 dead row versions cannot be removed yet."), in its own language.
    """
    left: list[int] = []

    def note(notice: "Diagnostic") -> None:
        if found := FIRST_NUMBER.match(notice.message_detail or ""):
            left.append(int(found[1]))

    raw = cursor.connection
    raw.add_notice_handler(note)
    try:
        cursor.execute(f"VACUUM (FULL, VERBOSE) {connection.ops.quote_name(table)}")
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", None) != LOCK_NOT_AVAILABLE:
            raise
        return False
    finally:
        raw.remove_notice_handler(note)
    return not sum(left)


def unused_reasons() -> list[int]:
    """The reasons of thumbs that no thumb has any more, which are choices of a filter.

    It reads every thumb there is, which is no work for the thread that writes. A reason that comes
    again meanwhile is noted anew within the hour.

    Returns:
        Keys of their rows.
    """
    seen = dict(
        SeenValue.objects.filter(kind=SeenKind.REASON).order_by().values_list("value", "pk")
    )
    if seen:
        for thumb in by_key(Feedback.objects.only("tags")):
            for tag in thumb.tags:
                seen.pop(tag, None)
    return list(seen.values())


def forget_reasons(unused: Sequence[int]) -> int:
    """Forgets reasons that no thumb has any more; short.

    Args:
        unused: Keys of their rows.

    Returns:
        How many there were.
    """
    return delete_rows(SeenValue._meta.pk, list(unused))


def tables() -> list[str]:
    """The names of the product's tables."""
    return sorted(
        model._meta.db_table for model in apps.get_app_config("copilot_admin").get_models()
    )


def _changes(cursor: CursorWrapper) -> int:
    row = cursor.execute("SELECT total_changes()").fetchone()
    return int(row[0])
