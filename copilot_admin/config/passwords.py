"""Hashes passwords one at a time, on one core: logging in must not take both from the answers."""

from collections.abc import Iterator
from contextlib import contextmanager
import threading

from django.contrib.auth.hashers import Argon2PasswordHasher

from copilot_admin.errors import Unavailable

MOST_WAITING_SECONDS = 10.0  # a page that has not come by then has been loaded again
# Reentrant: a log-in holds it around the check, the hash and the note of a failure.
_hashing = threading.RLock()


@contextmanager
def hashing_alone() -> Iterator[None]:
    """Waits until no other password of this process is hashed.

    Raises:
        Unavailable: Too many others wait.
    """
    if not _hashing.acquire(timeout=MOST_WAITING_SECONDS):
        raise Unavailable("Too many people log in at once. Try again in a few seconds.")
    try:
        yield
    finally:
        _hashing.release()


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
