"""A cursor of PostgreSQL whose rows can be read, or are a fault of the database's.

What lies between may garble a row that is well formed otherwise: a number of letters, a text of no
characters. psycopg raises then whatever its converters do, such as ValueError, which is a fault of ours
to all above.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from psycopg import ClientCursor, DataError, OperationalError

T = TypeVar("T")

# Of psycopg's converters, in C and in Python: numbers, texts and ids; decimals; too few values.
_UNREADABLE = (DataError, ValueError, ArithmeticError, LookupError, TypeError)


class ReadableRowsCursor(ClientCursor[Any]):
    """psycopg's own as Django uses it; where a row cannot be read, its connection is closed."""

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
            return read(*size)
        except _UNREADABLE as error:
            self.connection.pgconn.finish()  # of what else comes nobody knows what it is
            raise OperationalError("a row of the database cannot be read") from error
