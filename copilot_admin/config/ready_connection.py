"""A connection to SQLite that is closed when it cannot be made ready."""

import sqlite3
from typing import Any


class ReadyConnection(sqlite3.Connection):
    """The standard library's own; a statement of it that is refused is the last one.

    Django makes a connection ready by statements of the connection itself (all others go past it, by
    cursors), and drops it where one is refused, as of a file that was made read-only. What is dropped
    stays open until the garbage collector comes, as the connection holds itself by its cache of
    statements: two hundred pages left 250 open files.
    """

    def execute(self, *statement: Any) -> sqlite3.Cursor:
        """Executes a statement.

        Raises:
            sqlite3.Error: It was refused; the connection is closed.
        """
        try:
            return super().execute(*statement)
        except sqlite3.Error:
            self.close()
            raise
