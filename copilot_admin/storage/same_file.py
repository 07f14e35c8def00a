"""Whether the SQLite files that a server writes to are still those under their names.

What was replaced, moved or removed meanwhile goes on taking writes, and nobody will ever read them.
"""

from pathlib import Path
from typing import TypeAlias

from django.db import OperationalError

_Identity: TypeAlias = tuple[int, int]  # device, inode

# Of an open database they stay the same: who closes it last removes them.
_BESIDE = ("-wal", "-shm")


class SameFile:
    """The files of a server's database; they are looked at from the moment on when it is remembered."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._begin()

    def remember(self, path: Path) -> None:
        """A server starts with this file."""
        self._path = path
        self._begin()

    def forget(self) -> None:
        """Looks after no file any more, since the server has ended."""
        self._path = None
        self._begin()

    def _begin(self) -> None:
        self._identity = None if self._path is None else _identity(self._path)
        # Made once: each commit looks at three files, and to make two names took as long as the looks.
        self._paths_beside = [Path(f"{self._path}{end}") for end in _BESIDE]
        self._opened: object = None
        self._beside: list[_Identity | None] = []
        self._is_torn = False

    @property
    def is_replaced(self) -> bool:
        """Whether another file has its name by now, or none, or its log was removed."""
        return self._is_torn or (self._path is not None and _identity(self._path) != self._identity)

    def check(self, opened: object) -> None:
        """Keeps a transaction from being committed into files that are not there any more.

        Args:
            opened: The connection that writes, in its transaction.

        Raises:
            OperationalError: They are others.
        """
        self._look_beside(opened)
        if self.is_replaced:
            raise OperationalError("the file of the database was replaced while the server runs")

    def _look_beside(self, opened: object) -> None:
        if self._path is None:
            return
        beside = [_identity(path) for path in self._paths_beside]
        if self._opened is not opened:
            self._opened, self._beside = opened, beside
        self._is_torn = self._is_torn or beside != self._beside


def _identity(path: Path) -> _Identity | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_dev, state.st_ino


DATABASE_FILE = SameFile()
