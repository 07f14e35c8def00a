"""The users: who they are, how they ask, with which tokens, and what they may."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random

from cryptography.hazmat.primitives.asymmetric import rsa

from benchmarks.canaries import canary_of
from benchmarks.tokens import token

# Of a user, and of every user who has none of the kind of his own.
A_MINUTE, A_DAY, TOKENS_A_DAY, AT_ONCE = 5, 4, 200, 3
ROOMY = {"requests_per_day": 10**6, "tokens_per_day": 10**9, "usd_per_month": 10**5}


class Habit(Enum):
    """How somebody asks."""

    CALM = "chats in turns, below every limit"
    BURST = "requests a minute, of users"
    DAILY = "requests a day, of users"
    TALKER = "tokens a day, of users"
    PARALLEL = "answers at once, of every user"


# Of twenty; all others are calm.
_HABITS = (Habit.BURST, Habit.DAILY, Habit.TALKER, Habit.PARALLEL)
LIMITS: Mapping[Habit, Mapping[str, int]] = {
    Habit.BURST: {"requests_per_minute": A_MINUTE, "concurrent": 100},
    Habit.DAILY: {"requests_per_day": A_DAY},
    Habit.TALKER: {"tokens_per_day": TOKENS_A_DAY},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """One user.

    Attributes:
        token: A JWT that names him; "": it is not wanted.
    """

    number: int
    id: str
    habit: Habit
    token: str = ""

    @property
    def canary(self) -> str:
        """What only he says and hears."""
        return canary_of(self.id)


def people(number: int, *, seed: int, key: rsa.RSAPrivateKey | None) -> tuple[Person, ...]:
    """So many users; without a key nobody names them."""
    random = Random(seed)
    made = []
    for one in range(number):
        user = f"user{random.getrandbits(64):016x}"
        habit = _HABITS[one % 20] if key and one % 20 < len(_HABITS) else Habit.CALM
        signed = _token(user, key) if key else ""
        made.append(Person(number=one, id=user, habit=habit, token=signed))
    return tuple(made)


def limits_of(some: Sequence[Person]) -> dict[str, Mapping[str, int]]:
    """The limits of users by their ids; "": of every user."""
    own = {one.id: LIMITS[one.habit] for one in some if one.habit in LIMITS}
    return {"": {"concurrent": AT_ONCE, "requests_per_minute": 1000, **ROOMY}, **own}


def _token(user: str, key: rsa.RSAPrivateKey) -> str:
    canary = canary_of(user)
    return token(key, user, email=f"{canary}@example.com", name=f"A User {canary}")
