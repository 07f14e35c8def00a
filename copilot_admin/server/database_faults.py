"""What is said of a database with which no server can start, in one line."""

from collections.abc import Sequence
import os
from pathlib import Path

from django import db
from django.conf import settings
from django.db.migrations.exceptions import MigrationSchemaMissing

from copilot_admin.config.databases import SQLITE
from copilot_admin.config.free_space import fault_of_disks
from copilot_admin.errors import ConfigurationError
from copilot_admin.server.refused_connections import refusal_of_connections
from copilot_admin.storage.errors import (
    DEADLOCK_DETECTED,
    INSUFFICIENT_PRIVILEGE,
    OUTAGES,
    UNDEFINED_TABLE,
    is_outage,
)
from copilot_admin.storage.schema import is_current

MIGRATE = "Run `manage.py migrate`."
# What PostgreSQL says to the slower one of two that make the same table, column, index or extension, of
# which each had seen that it is not there. Source: its table of error codes.
_MADE_ALREADY = frozenset({"42P07", "42701", "42710", "23505"})
UTF8 = "UTF8"
_READ_ONLY = "25006"


def check_database() -> None:
    """Refuses to start over a database that does not answer, is broken, or lacks its tables.

    Raises:
        ConfigurationError: It is one of these; the text says which.
    """
    try:
        current, encoding = is_current(), _encoding()
    except db.Error as error:
        raise ConfigurationError(sentence_of(error)) from error
    finally:
        db.connections.close_all()
    if not current:
        raise ConfigurationError(f"The tables of the database are missing or old. {MIGRATE}")
    if encoding != UTF8:
        raise ConfigurationError(
            f"The database keeps texts as {encoding}, in which not everything can be written that people "
            "and models write. Make one with `ENCODING 'UTF8' TEMPLATE template0`, and bring over what "
            "is there with `manage.py backup` and `restore`."
        )


def _encoding() -> str:
    """How the database keeps texts; SQLite has nothing else."""
    if db.connection.vendor != "postgresql":
        return UTF8
    with db.connection.cursor() as cursor:
        cursor.execute("SHOW server_encoding")
        return str(cursor.fetchone()[0])


def sentence_for_command(error: db.Error, argv: Sequence[str]) -> str | None:
    """What a command says of an error that nobody has caught; None: it is a fault of ours.

    Args:
        error: That ended the command.
        argv: As in `sys.argv`.
    """
    if argv[1:2] == ["migrate"] and "--traceback" not in argv:
        if is_made_by_another(error):
            return sentence_of(error)
        if _code_of(error) == INSUFFICIENT_PRIVILEGE:
            return (
                "PostgreSQL does not let the user of DATABASE_URL make or change tables. Let him own "
                "those that are there, and grant him CREATE on their schema."
            )
    is_ours = not is_outage(error) or (is_missing_table(error) and argv[1:2] == ["migrate"])
    return None if is_ours or "--traceback" in argv else sentence_of(error)


def was_in_the_way(error: db.Error) -> bool:
    """Whether PostgreSQL took back what was done, since it and others at work waited for each other."""
    return _code_of(error) == DEADLOCK_DETECTED


def is_missing_table(error: db.Error) -> bool:
    """Whether a table or a column is not there."""
    code = _code_of(error)
    if code == INSUFFICIENT_PRIVILEGE:
        return False
    is_told = code == UNDEFINED_TABLE or "no such " in str(error)
    return is_told or isinstance(error, db.ProgrammingError)


def is_made_by_another(error: db.Error) -> bool:
    """Whether a table is there already, as two processes migrate at once."""
    return _code_of(error) in _MADE_ALREADY


def sentence_of(error: db.Error) -> str:
    """What happened, and what to do; of PostgreSQL no words, which may quote the address."""
    database = settings.DATABASES["default"]
    if is_made_by_another(error):
        return (
            "Another process makes the same tables. Wait until it has ended, and start this again."
        )
    if is_missing_table(error):
        return f"The tables of the database are missing or old. {MIGRATE}"
    if database["ENGINE"] == SQLITE:
        return _of_sqlite(error, database["NAME"])
    if _code_of(error) == INSUFFICIENT_PRIVILEGE:
        return (
            "PostgreSQL does not let the user of DATABASE_URL at a table. Grant him the rights on all "
            "tables and sequences; its own log names the table."
        )
    if was_in_the_way(error):
        return (
            "PostgreSQL took back what was done last, as others at work were in its way. What was done "
            "before stays: start this again when less is asked."
        )
    if _code_of(error) == _READ_ONLY:
        return "PostgreSQL can only be read now. Name the one that takes writes in DATABASE_URL."
    if isinstance(error, OUTAGES) and not isinstance(error, db.InternalError):
        if said := refusal_of_connections():
            return f"PostgreSQL refuses the connection: {said}. Mend that, or DATABASE_URL."
        return "PostgreSQL does not answer. Start it, or mend DATABASE_URL."
    return f"PostgreSQL cannot be used ({type(error).__name__}). Its own log says why."


def _of_sqlite(error: db.Error, name: str) -> str:
    if isinstance(error, OUTAGES) and "locked" not in str(error):
        # A full disk may be "disk I/O error" to SQLite, and one without inodes a file that does not open.
        if fault := fault_of_disks():
            return f"SQLite cannot work: {fault}. Mend that, or name another COPILOT_DATA_DIR."
        if kept := _kept_from_us(Path(name)):
            return (
                f"SQLite cannot work: this account may not read and write {kept}. Give it to the user "
                "that runs the server, or name another COPILOT_DATA_DIR."
            )
    return (
        f"The SQLite database {name} cannot be used: {error}. Free what keeps it, "
        "or put a backup in its place."
    )


def _kept_from_us(database: Path) -> Path | None:
    """Which of the files of a SQLite database this account may not use.

    Its log is of another account where a command of that one made it.
    """
    for file in (database, *(Path(f"{database}{end}") for end in ("-wal", "-shm"))):
        try:
            file.stat()
        except FileNotFoundError:
            continue
        except OSError:
            return file
        if not os.access(file, os.R_OK | os.W_OK):
            return file
    return None


def _code_of(error: db.Error) -> str | None:
    """PostgreSQL's code of an error, if it is one of PostgreSQL."""
    told = error.__context__ if isinstance(error, MigrationSchemaMissing) else error
    return getattr(told.__cause__, "sqlstate", None) if told else None
