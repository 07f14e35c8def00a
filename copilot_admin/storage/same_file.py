"""Whether the SQLite files that a server writes to are still those under their names.

What was replaced, moved or removed meanwhile goes on taking writes, and nobody will ever read them.
"""

from contextlib import suppress
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
        """Begins to look after the file that a server starts with."""
        self._path = path
        self._begin()

    def forget(self) -> None:
        """Looks after no file any more, since the server has ended."""
        self._path = None
        self._begin()

    def _begin(self) -> None:
        self._identity: _Identity | None = None
        if self._path is not None:
            with suppress(OSError):  # then nobody can open it either
                self._identity = _identity(self._path)
        # Made once: each commit looks at three files, and to make two names took as long as the looks.
        self._paths_beside = [Path(f"{self._path}{end}") for end in _BESIDE]
        self._opened: object = None
        self._beside: list[_Identity | None] = []
        self._is_torn = False

    @property
    def is_replaced(self) -> bool:
        """Whether another file has its name by now, or none, or its log was removed.

        Of a folder that cannot be entered for the moment nothing says so.
        """
        try:
            return self._is_torn or not self._has_its_name()
        except OSError:
            return False

    def check(self, opened: object) -> None:
        """Keeps a transaction from being committed into files that are not there any more.

        Args:
            opened: The connection that writes, in its transaction.

        Raises:
            OperationalError: They are others, or nobody can tell at the moment.
        """
        try:
            is_same = self._has_its_name() and not self._is_torn_by_now(opened)
        except OSError as error:
            raise OperationalError("the files of the database cannot be looked at") from error
        if not is_same:
            raise OperationalError("the file of the database was replaced while the server runs")

    def _has_its_name(self) -> bool:
        return self._path is None or _identity(self._path) == self._identity

    def _is_torn_by_now(self, opened: object) -> bool:
        """Whether the log was taken from a database that is there: for good, whatever lies there later.

        A folder that is moved away takes the log with it, and brings it back.
        """
        if self._path is None:
            return False
        beside = [_identity(path) for path in self._paths_beside]
        if self._opened is not opened:
            self._opened, self._beside = opened, beside
        self._is_torn = self._is_torn or beside != self._beside
        return self._is_torn


def _identity(path: Path) -> _Identity | None:
    """Which file has a name.

    Raises:
        OSError: Nobody can tell, as where its folder may not be entered for the moment.
    """
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return state.st_dev, state.st_ino


DATABASE_FILE = SameFile()
