"""Password hashing that leaves processors to the answers."""

from collections.abc import Iterator
from contextlib import contextmanager
import threading

from django.contrib.auth.hashers import Argon2PasswordHasher

from copilot_admin.errors import Unavailable

MAX_WAIT_SECONDS = 4.0
_SEMAPHORE = threading.Semaphore(2)  # a hash takes about 100 ms and 64 MiB


@contextmanager
def _hashing_slot() -> Iterator[None]:
    if not _SEMAPHORE.acquire(timeout=MAX_WAIT_SECONDS):
        raise Unavailable("Too many people are signing in. Try again in a few seconds.")
    try:
        yield
    finally:
        _SEMAPHORE.release()


class SingleThreadedArgon2(Argon2PasswordHasher):
    """Argon2id with one thread per hash: Django's default uses eight (RFC 9106, section 4)."""

    time_cost = 3
    memory_cost = 64 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        with _hashing_slot():
            return super().encode(password, salt)

    def verify(self, password: str, encoded: str) -> bool:
        with _hashing_slot():
            return super().verify(password, encoded)
