"""The endpoint keys that this process has lately seen to be good: who sends one is no guesser.

No key is kept, and nothing that tells one to who reads this memory: digests under a secret that
dies with the process. A key is still looked up with each request, so one that is remembered and
revoked since opens nothing; the look-up forgets it.
"""

from collections import OrderedDict
import hashlib
from secrets import token_bytes
from threading import Lock

MOST_KEYS = 10_000  # two megabytes; those that were used last stay
_MARK_BYTES = 16


class SeenKeys:
    """Keys that opened something; each worker knows those that came to it."""

    def __init__(self) -> None:
        self._secret = token_bytes(32)
        self._marks: OrderedDict[bytes, None] = OrderedDict()  # the one that was used last is last
        self._lock = Lock()

    def mark_of(self, key: str) -> bytes:
        """What tells a key from others, here and nowhere else; a microsecond."""
        text = key.encode(errors="surrogatepass")
        return hashlib.blake2b(text, key=self._secret, digest_size=_MARK_BYTES).digest()

    def note(self, key: str) -> None:
        """Remembers a key that was good a moment ago."""
        mark = self.mark_of(key)
        with self._lock:
            self._marks[mark] = None
            self._marks.move_to_end(mark)
            if len(self._marks) > MOST_KEYS:
                self._marks.popitem(last=False)

    def drop(self, key: str) -> None:
        """Forgets a key that is good no more."""
        with self._lock:
            self._marks.pop(self.mark_of(key), None)

    def know(self, mark: bytes) -> bool:
        """Whether a key with this mark was good when it came last."""
        return mark in self._marks

    def forget(self) -> None:
        """Forgets all keys; for tests."""
        with self._lock:
            self._marks.clear()


SEEN_KEYS = SeenKeys()
