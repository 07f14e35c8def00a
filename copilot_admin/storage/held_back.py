"""What transactions do first and last, in one order for all: so none waits for another that waits for it.

Jobs that are committed together come in the order of their arrival, in each process another one. Rows
that many of them make or change, such as users and counts, would be locked crosswise: PostgreSQL ends
one of the two after a second, and questions wait for it meanwhile.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import attrgetter, itemgetter
import threading
from typing import Any, Generic, TypeAlias, TypeVar

Place: TypeAlias = tuple[Any, ...]  # of a row: first its table, then its key
Work: TypeAlias = Callable[[], object]
T = TypeVar("T")


class _Held(threading.local):
    """The work of the transaction of this thread; None: nothing is held back."""

    work: list[tuple[Place, Work]] | None = None


_held = _Held()


def hold_back(place: Place, work: Work) -> None:
    """Does something at the end of the transaction; at once where nothing is held back.

    Args:
        place: Of the row that it changes: what is done is done in the order of places.
        work: Changes it.
    """
    if _held.work is None:
        work()
    else:
        _held.work.append((place, work))


@contextmanager
def holding_back() -> Iterator[Work]:
    """Holds back what the block does last.

    Yields:
        Does it; to be called at the end of the block, or it is dropped.
    """
    outer, _held.work = _held.work, []
    try:
        yield do_held
    finally:
        _held.work = outer


@contextmanager
def held_apart() -> Iterator[None]:
    """For a savepoint: what it does last is done with the rest, and not at all where it is undone."""
    outer, _held.work = _held.work, []
    try:
        yield
        mine = _held.work
    finally:
        _held.work = outer
    for place, work in mine:
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


def do_first(jobs: Iterable[Callable[[], object]]) -> None:
    """Does what jobs of one transaction begin with, in the order of places."""
    some = [job for job in jobs if isinstance(job, FirstThen)]
    for job in sorted(some, key=attrgetter("place")):
        job.first()


def do_held() -> None:
    """Does what was held back so far: for whoever deletes rows that it would make anew."""
    held, _held.work = _held.work, None
    for _, work in sorted(held or (), key=itemgetter(0)):
        work()
    if held is not None:
        _held.work = []
