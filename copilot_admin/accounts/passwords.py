"""Password hashing that leaves processors to the answers, and a check of new passwords."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
import threading

from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _

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


class VarietyValidator:
    """Refuses long passwords that are easy to guess: few characters, repetitions, sequences."""

    MIN_DISTINCT = 5

    def validate(self, password: str, user: object = None) -> None:
        lower = password.lower()
        steps = {ord(after) - ord(before) for before, after in pairwise(lower)}
        is_sequence = steps in ({1}, {-1})
        size = len(lower)
        is_repeated = any((lower[:n] * size)[:size] == lower for n in range(1, size // 2 + 1))
        if is_sequence or is_repeated or len(set(lower)) < self.MIN_DISTINCT:
            raise ValidationError(
                _("This password repeats itself or is a sequence. Choose a more varied one."),
                code="password_too_simple",
            )

    def get_help_text(self) -> str:
        return _("Your password must not repeat a few characters or be a sequence.")
