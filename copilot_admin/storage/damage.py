"""A SQLite file that turns out to be broken while a server runs: it stays so until somebody mends it."""

import logging
import sqlite3
import threading

from django.conf import settings

# Source: https://www.sqlite.org/rescode.html; the lowest byte is the primary code.
_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_found = threading.Event()
logger = logging.getLogger(__name__)


def is_damage(error: BaseException) -> bool:
    """Whether Django raised an error because the file is broken."""
    return getattr(error.__cause__, "sqlite_errorcode", 0) & 0xFF in _CODES


def note_damage(error: BaseException) -> None:
    """Remembers that the file is broken, and says so once in the log."""
    if not _found.is_set():
        _found.set()
        file = settings.DATABASES["default"]["NAME"]
        logger.critical(
            "The SQLite database %s is damaged (%s). Stop the server and put a backup in its place.",
            file,
            error,
        )


def is_damaged() -> bool:
    """Whether the file has turned out to be broken since this process began to serve."""
    return _found.is_set()


def begin_anew() -> None:
    """Knows of no damage: a server starts."""
    _found.clear()
