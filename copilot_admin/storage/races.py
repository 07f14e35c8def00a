"""What became of rows between somebody's look at them and what he wrote, by the error it ended with."""

from enum import Enum
import sqlite3
from typing import Final

from django.core.exceptions import ObjectDoesNotExist
from django.db import DatabaseError, IntegrityError

from copilot_admin.storage.postgresql_codes import NO_SUCH_ROW, ROW_IS_THERE

# Source: https://www.sqlite.org/rescode.html; the name of the constraint is of the extended codes.
_NO_SUCH_ROW: Final = sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
_ROW_IS_THERE: Final = frozenset(
    {sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY}
)


class Race(Enum):
    """How somebody else came first."""

    GONE = "gone"  # the row, or one that it belongs to, was deleted
    TAKEN = "taken"  # another row has what only one may have, such as a name


def race_of(error: BaseException) -> Race | None:
    """How an error says that somebody else came first; None for every other error."""
    if isinstance(error, ObjectDoesNotExist) or _is_of_django(error):
        return Race.GONE
    if not isinstance(error, IntegrityError):
        return None
    sqlite = getattr(error.__cause__, "sqlite_errorcode", 0)
    postgresql = getattr(error.__cause__, "sqlstate", None)
    if sqlite == _NO_SUCH_ROW or postgresql == NO_SUCH_ROW:
        return Race.GONE
    return Race.TAKEN if sqlite in _ROW_IS_THERE or postgresql == ROW_IS_THERE else None


def _is_of_django(error: BaseException) -> bool:
    """Whether a row to be updated was not there; what a database itself says is the cause of another."""
    return type(error) is DatabaseError and error.__cause__ is None
