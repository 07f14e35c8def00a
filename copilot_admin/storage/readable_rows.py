"""A cursor of PostgreSQL whose rows can be read, or are a fault of the database's.

What lies between may garble a row that is well formed otherwise: a number of letters, a text of no
characters. psycopg raises then whatever its converters do, such as ValueError, which is a fault of ours
to all above.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from psycopg import ClientCursor, Cursor, DataError, OperationalError

T = TypeVar("T")

_WORDS = "a row of the database cannot be read"
# Of psycopg's converters, in C and in Python: numbers, texts and ids; decimals; too few values.
_UNREADABLE = (ValueError, ArithmeticError, LookupError, TypeError)


class ParametersCursor(Cursor[Any]):
    """psycopg's own, which sends values beside their statement; where a row is garbled, its connection is closed."""

    def fetchone(self) -> Any:
        """The next row; None: there is none.

        Raises:
            OperationalError: It cannot be read.
        """
        return self._read(super().fetchone)

    def fetchmany(self, size: int = 0) -> list[Any]:
        """The next rows.

        Raises:
            OperationalError: One of them cannot be read.
        """
        return self._read(super().fetchmany, size)

    def fetchall(self) -> list[Any]:
        """All rows that are left.

        Raises:
            OperationalError: One of them cannot be read.
        """
        return self._read(super().fetchall)

    def __next__(self) -> Any:
        """The next row.

        Raises:
            OperationalError: It cannot be read.
        """
        return self._read(super().__next__)

    def _read(self, read: Callable[..., T], *size: int) -> T:
        try:
            rows = read(*size)
        except DataError as error:  # a time that no calendar has; somebody may have stored it
            raise OperationalError(_WORDS) from error
        except _UNREADABLE as error:
            self.connection.pgconn.finish()  # of what else comes nobody knows what it is
            raise OperationalError(_WORDS) from error
        if self._is_incomplete():
            self.connection.pgconn.finish()
            raise OperationalError("not all rows of the database arrived")
        return rows

    def _is_incomplete(self) -> bool:
        """Whether other rows arrived than were sent; PostgreSQL says of most statements how many."""
        result = self.pgresult
        sent = result.command_tuples if result is not None else None
        return result is not None and sent is not None and sent != result.ntuples


class ReadableRowsCursor(ParametersCursor, ClientCursor[Any]):
    """The same as Django uses it: values are written into their statement."""
