"""Slows those who try one endpoint key after the other, by the address that they try from."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from threading import Lock
from time import monotonic

from copilot_admin.errors import TooManyFailedAttempts
from copilot_admin.http.networks import network_of

MOST_GUESSES = (
    20  # wrong keys within a minute; a client whose key has expired asks every few seconds
)
SECONDS = 60.0
MOST_ADDRESSES = 10_000  # that are remembered; a megabyte or two
MOST_TURNS = 20  # of keys that wait at one address; together a guesser tries forty in a minute


@dataclass(slots=True)
class _Count:
    """What came from one address.

    Attributes:
        began: When its minute did.
        turns: When each of the keys that were told to wait is looked up, by its mark.
    """

    began: float
    guesses: int = 0
    turns: dict[bytes, float] = field(default_factory=dict)

    def seconds_left(self, now: float) -> int:
        """Until guesses are counted anew; 0: there are still some."""
        is_slowed = self.guesses >= MOST_GUESSES and now - self.began < SECONDS
        return max(ceil(self.began + SECONDS - now), 1) if is_slowed else 0

    def wait(self, mark: bytes, now: float) -> int:
        """Until a key is looked up; 0: now. One that has to wait is given a turn, if there is any."""
        seconds = self.seconds_left(now)
        if seconds and len(self.turns) < MOST_TURNS:
            self.turns.setdefault(mark, self.began + SECONDS)
        return seconds if self.turns.get(mark, now + 1) > now else 0

    def anew(self, now: float) -> "_Count":
        """The next minute's; whose turn came long ago is not awaited any more."""
        awaited = {mark: turn for mark, turn in self.turns.items() if now - turn < SECONDS}
        return _Count(now, turns=awaited)


class Guesses:
    """Counts wrong keys by address, in this process: each worker has a count of its own.

    Args:
        clock: Seconds that never go back.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._counts: OrderedDict[str, _Count] = OrderedDict()  # the one that began first is first
        self._lock = Lock()

    def count(self, address: str) -> int:
        """Counts a wrong key; returns the seconds to wait when there were too many, else 0."""
        name, now = network_of(address), self._clock()
        with self._lock:
            count = self._counts.get(name)
            if count is None or now - count.began >= SECONDS:
                count = self._counts[name] = count.anew(now) if count else _Count(now)
                self._counts.move_to_end(name)
            count.guesses += 1
            if len(self._counts) > MOST_ADDRESSES:
                self._counts.popitem(last=False)
        return count.seconds_left(now) if count.guesses > MOST_GUESSES else 0

    def slow(self, address: str) -> bool:
        """Whether keys that nobody knows have to wait at an address; a microsecond or two."""
        count = self._counts.get(network_of(address)) if self._counts else None
        return count is not None and count.seconds_left(self._clock()) > 0

    def wait(self, address: str, mark: bytes) -> int:
        """How many seconds a key waits before it is looked up; 0: it is its turn.

        Args:
            address: That it came from.
            mark: Tells it from other keys.
        """
        now = self._clock()
        with self._lock:
            count = self._counts.get(network_of(address))
            return count.wait(mark, now) if count else 0

    def take_turn(self, address: str, mark: bytes) -> int:
        """The same, for who looks it up at once if there is nothing to wait for.

        Who comes back when he was told to is let in once, whatever others have sent meanwhile: a
        client that sends one wrong key over and over has used up a new minute in its first moment.
        """
        now = self._clock()
        with self._lock:
            count = self._counts.get(network_of(address))
            seconds = count.wait(mark, now) if count else 0
            if count and not seconds:
                count.turns.pop(mark, None)
            return seconds

    def forget(self) -> None:
        """Forgets all failed guesses; for tests."""
        with self._lock:
            self._counts.clear()


def too_many_guesses(seconds: int) -> TooManyFailedAttempts:
    """What who sends too many wrong keys is told.

    Args:
        seconds: Until he may send another.
    """
    return TooManyFailedAttempts(
        "Too many wrong endpoint keys came from this address. Wait a minute, and send a key that "
        "works.",
        retry_after=seconds,
    )


GUESSES = Guesses()
