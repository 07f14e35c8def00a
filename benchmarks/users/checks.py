"""The hard checks: what was to be, what is, and whether that is kept."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.table import table
from benchmarks.users.books import Books, of_clients
from benchmarks.users.crowd import Asked, Sizes, of_tokens
from benchmarks.users.people import A_DAY, A_MINUTE, AT_ONCE, TOKENS_A_DAY, Habit, Person

OFF_BY = 0.02  # of a limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One comparison.

    Attributes:
        off_by: By which share they may differ.
        is_told: Whether it is only told, and decides nothing.
    """

    what: str
    wanted: int
    found: int
    off_by: float = 0.0
    is_told: bool = False

    @property
    def is_kept(self) -> bool:
        """Whether both agree."""
        return self.is_told or abs(self.found - self.wanted) <= self.off_by * self.wanted


def report(checks: Sequence[Check]) -> str:
    """A table of all."""
    rows = [
        (one.what, str(one.wanted), str(one.found), "" if one.is_told else _kept(one))
        for one in checks
    ]
    return table([("what", "wanted", "found", "kept"), *rows])


def _kept(check: Check) -> str:
    return "yes" if check.is_kept else "NO"


def heard(asked: Sequence[Asked]) -> Iterator[Check]:
    """What came over the wire."""
    strange = sum(one.status not in (200, 429) for one in asked)
    yield Check(what="answers with the words of another user", wanted=0, found=_mixed(asked))
    let_in = [one for one in asked if one.status == 200]
    yield Check(
        what="answers as the upstream gave them to this user",
        wanted=len(let_in),
        found=sum(one.is_as_scripted for one in let_in),
    )
    unlimited = [one for one in asked if not one.limit]
    yield Check(
        what="questions below every limit that were let in",
        wanted=len(unlimited),
        found=sum(one.status == 200 for one in unlimited),
    )
    yield Check(what="other statuses than 200 and 429", wanted=0, found=strange)


def _mixed(asked: Iterable[Asked]) -> int:
    return sum(bool(one.strangers) for one in asked)


def limits(asked: Sequence[Asked], some: Sequence[Person], sizes: Sizes) -> Iterator[Check]:
    """How many each limit let in; and of those that each user has, how many users had all of theirs."""
    shared = {
        "answers at once, of a copilot": sizes.seats,
        "requests a day, of a copilot": sizes.a_day,
        "requests a day, of a key": sizes.of_key,
    }
    each = {
        Habit.BURST: A_MINUTE,
        Habit.DAILY: A_DAY,
        Habit.TALKER: of_tokens(TOKENS_A_DAY),
        Habit.PARALLEL: AT_ONCE,
    }
    let_in = Counter(one.limit for one in asked if one.status == 200)
    by_user = Counter(one.person for one in asked if one.status == 200 and one.limit)
    for limit, most in shared.items():
        yield Check(what=limit, wanted=most, found=let_in[limit], off_by=OFF_BY)
    for habit, most in each.items():
        his = [one for one in some if one.habit is habit]
        all_of_them = most * len(his)
        yield Check(what=habit.value, wanted=all_of_them, found=let_in[habit.value], off_by=OFF_BY)
        exact = sum(by_user[one] == most for one in his)
        yield Check(
            what=f"... users with exactly {most}", wanted=len(his), found=exact, is_told=True
        )


def agreement(asked: Sequence[Asked], books: Sequence[Books]) -> Iterator[Check]:
    """Whether all who count say the same as the clients, and as the first of them."""
    clients, first = of_clients(asked), books[0]
    for one in books:
        told = clients if one is first else first.outcomes
        mine = one.let_in if one is first else one.outcomes
        whose = "clients" if one is first else first.name
        yield Check(
            what=f"questions by {one.name}", wanted=clients.total(), found=one.let_in.total()
        )
        yield _same(f"{one.name}: by copilot and outcome, as {whose}", told, mine)
        yield Check(
            what=f"tokens by {one.name}",
            wanted=first.tokens.total(),
            found=one.tokens.total(),
        )
        yield _same(f"{one.name}: tokens by copilot, as {first.name}", first.tokens, one.tokens)


def same_users(what: str, wanted: Mapping[Hashable, int], found: Mapping[Hashable, int]) -> Check:
    """Whether two count the same for each user."""
    return _same(what, wanted, found)


def _same(what: str, wanted: Mapping[Hashable, int], found: Mapping[Hashable, int]) -> Check:
    """How many of all counts are the same in both."""
    keys = wanted.keys() | found.keys()
    same = sum(wanted.get(key, 0) == found.get(key, 0) for key in keys)
    return Check(what=what, wanted=len(keys), found=same)
