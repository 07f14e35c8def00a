"""What jobs do first and transactions last, in one order for all: none waits for another that waits for it.

Jobs that are committed together come in the order of their arrival, in each process another one. Rows
that many of them make or change, such as users and counts, would be locked crosswise: PostgreSQL ends
one of the two after a second, and questions wait for it meanwhile.

Rows that two processes may be making are made before, in a transaction of their own: whoever makes the
same one waits for its commit, and a batch takes up to a second. What many jobs add to one row is added
up and written once: each statement that holds such a row keeps all other processes from theirs.

Jobs that hold rows from their beginning, as those of one conversation do, stand in an order of their own.

Big contents, which many questions bring alike, are stored before all else, those of all jobs together.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from operator import attrgetter, itemgetter
import threading
from typing import Any, Generic, TypeAlias, TypeVar

from django.db import connection, transaction

from copilot_admin.storage.blobs import save
from copilot_admin.storage.packing import Packed

Place: TypeAlias = tuple[Any, ...]  # of a row: first its table, then its key
Work: TypeAlias = Callable[[], object]
Number: TypeAlias = int | Decimal
Change: TypeAlias = Callable[[Mapping[str, Number]], object]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Sum:
    """What is added to the columns of one row in the end."""

    change: Change
    numbers: Counter[str] = field(default_factory=Counter)

    def __call__(self) -> None:
        self.change(self.numbers)


@dataclass(frozen=True, slots=True)
class _Last:
    """What a transaction does last; each sum stands once in its work, too."""

    work: list[tuple[Place, Work]] = field(default_factory=list)
    sums: dict[Place, _Sum] = field(default_factory=dict)

    def add(self, place: Place, numbers: Mapping[str, Number], change: Change) -> None:
        if place not in self.sums:
            self.sums[place] = _Sum(change)
            self.work.append((place, self.sums[place]))
        self.sums[place].numbers.update(numbers)  # also Decimals: it adds what can be added


class _Held(threading.local):
    """What the transaction of this thread does last; None: nothing is held back."""

    last: _Last | None = None


_held = _Held()


def hold_back(place: Place, work: Work) -> None:
    """Does something at the end of the transaction; at once where nothing is held back.

    Args:
        place: Of the row that it changes: what is done is done in the order of places.
        work: Changes it.
    """
    if _held.last is None:
        work()
    else:
        _held.last.work.append((place, work))


def hold_sum(place: Place, numbers: Mapping[str, Number], change: Change) -> None:
    """Adds to a row at the end of the transaction, with all that others add; else at once.

    Args:
        place: Of the row and of the way in which it is changed, which is one for each place.
        numbers: By the names of its columns.
        change: Takes the sums.
    """
    if _held.last is None:
        change(numbers)
    else:
        _held.last.add(place, numbers, change)


@contextmanager
def holding_back() -> Iterator[Work]:
    """Holds back what the block does last.

    Yields:
        Does it; to be called at the end of the block, or it is dropped.
    """
    outer, _held.last = _held.last, _Last()
    try:
        yield do_held
    finally:
        _held.last = outer


@contextmanager
def held_apart() -> Iterator[None]:
    """For a savepoint: what it does last is done with the rest, and not at all where it is undone."""
    outer, mine = _held.last, _Last()
    _held.last = mine
    try:
        yield
    finally:
        _held.last = outer
    for place, work in mine.work:
        if isinstance(work, _Sum):
            hold_sum(place, work.numbers, work.change)
        else:
            hold_back(place, work)


@dataclass(frozen=True, slots=True)
class FirstThen(Generic[T]):
    """A job that begins with a row which others may be making, too.

    Attributes:
        place: Of that row.
        first: Makes it; where jobs are committed together, it is called twice.
        then: All the rest.
    """

    place: Place
    first: Work
    then: Callable[[], T]

    def __call__(self) -> T:
        """Does the job."""
        self.first()
        return self.then()


@dataclass(frozen=True, slots=True)
class InOrder(Generic[T]):
    """A job that holds rows which jobs of other processes hold, too.

    Attributes:
        place: Of what it holds, the same in every process; jobs of one place keep their order.
        job: Does it.
        contents: What it stores as blobs.
        rows: How many rows it may write, where these are far more than those of most.
    """

    place: Place
    job: Callable[[], T]
    contents: Callable[[], Iterable[Packed]] = tuple
    rows: int = 0

    def __call__(self) -> T:
        """Does the job."""
        return self.job()


def in_order(job: Callable[[], object]) -> tuple[bool, Place]:
    """What jobs of one transaction are sorted by: those without a place come last, as they came."""
    match job:
        case InOrder(place):
            return False, place
        case FirstThen(then=then):
            return in_order(then)
    return True, ()


def rows_of(job: Callable[[], object]) -> int:
    """How many rows a job may write, where these are far more than those of most."""
    match job:
        case InOrder(rows=rows):
            return rows
        case FirstThen(then=then):
            return rows_of(then)
    return 0


def store_contents(jobs: Sequence[Callable[[], object]]) -> None:
    """Stores and commits the blobs of jobs of one transaction, in one order of all processes.

    A job alone begins with its own, and waits for nobody who waits for it. SQLite has one writer.
    """
    if len(jobs) == 1 or connection.vendor != "postgresql":
        return
    with transaction.atomic():
        save(chain.from_iterable(map(_contents, jobs)))


def _contents(job: Callable[[], object]) -> Iterable[Packed]:
    match job:
        case InOrder(contents=contents):
            return contents()
        case FirstThen(then=then):
            return _contents(then)
    return ()


def do_first(jobs: Iterable[Callable[[], object]]) -> None:
    """Does and commits what jobs of one transaction begin with, in the order of places."""
    some = [job for job in jobs if isinstance(job, FirstThen)]
    if not some:
        return
    with transaction.atomic(), holding_back() as do_the_rest:
        for job in sorted(some, key=attrgetter("place")):
            job.first()
        do_the_rest()


def do_held() -> None:
    """Does what was held back so far: for whoever deletes rows that it would make anew."""
    last, _held.last = _held.last, None
    for _, work in sorted(last.work if last else (), key=itemgetter(0)):
        work()
    if last is not None:
        _held.last = _Last()
