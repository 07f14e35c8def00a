"""Hashes passwords one at a time, on one core: logging in must not take both from the answers."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
import fcntl
from pathlib import Path
import threading
import time
from typing import IO

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher

from copilot_admin.errors import Unavailable

MOST_WAITING_SECONDS = 4.0  # as for the database: then a page says so
LOCK_FILE = "hashing.lock"
_LOOK_SECONDS = 0.02  # a hash takes some 100 ms


class _OneAtATime:
    """Lets one thread through of all in this process, and of all workers on this machine."""

    def __init__(self) -> None:
        # Reentrant: a log-in holds it around the check, the hash and the note of a failure.
        self._lock = threading.RLock()
        self._is_held = False  # by the thread that has the lock

    @contextmanager
    def alone(self, *, seconds: float) -> Iterator[None]:
        until = time.monotonic() + seconds
        if not self._lock.acquire(timeout=seconds):
            raise _too_many()
        try:
            with nullcontext() if self._is_held else self._alone_among_workers(until):
                yield
        finally:
            self._lock.release()

    @contextmanager
    def _alone_among_workers(self, until: float) -> Iterator[None]:
        with _lock_file() as file:
            if file is not None:
                _wait_for(file, until)
            self._is_held = True
            try:
                yield
            finally:
                self._is_held = False


@contextmanager
def _lock_file() -> Iterator[IO[bytes] | None]:
    """What workers with the same data directory lock; None where nothing can be written.

    A full disk keeps nobody from logging in.
    """
    with ExitStack() as opened:
        file: IO[bytes] | None = None
        with suppress(OSError):
            file = opened.enter_context((Path(settings.DATA_DIR) / LOCK_FILE).open("ab"))
        yield file


def _wait_for(file: IO[bytes], until: float) -> None:
    """Waits until no other worker has the file.

    Raises:
        Unavailable: One has it for too long.
    """
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise _too_many() from None
            time.sleep(_LOOK_SECONDS)
        except OSError:  # some network file systems have no locks
            return
        else:
            return


def _too_many() -> Unavailable:
    return Unavailable("Too many people log in at once. Try again in a few seconds.")


_HASHING = _OneAtATime()


@contextmanager
def hashing_alone() -> Iterator[None]:
    """Waits until no other password is hashed by a worker with the same data directory.

    Raises:
        Unavailable: Too many others wait.
    """
    with _HASHING.alone(seconds=MOST_WAITING_SECONDS):
        yield


class OneCoreArgon2(Argon2PasswordHasher):
    """Argon2id with one lane: Django's eight would be hashed on as many cores as there are.

    Source: https://www.rfc-editor.org/rfc/rfc9106#section-4 (64 MiB and three passes)
    """

    time_cost = 3
    memory_cost = 64 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        """Hashes a new password."""
        with hashing_alone():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        """Compares a password with a hash."""
        with hashing_alone():
            return super().verify(password, encoded)
