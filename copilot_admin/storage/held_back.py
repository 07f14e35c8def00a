"""What transactions do last, in one order for all: so none waits for another that waits for it.

Jobs that are committed together come in the order of their arrival, in each process another one. Rows
that many of them change, such as counts, would be locked crosswise: PostgreSQL ends one of the two
after a second, and questions wait for it meanwhile.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from operator import itemgetter
import threading
from typing import Any, TypeAlias

Place: TypeAlias = tuple[Any, ...]  # of a row: first its table, then its key
Work: TypeAlias = Callable[[], object]


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
def at_once() -> Iterator[None]:
    """Holds nothing back: for a savepoint that is undone where something in it fails."""
    outer, _held.work = _held.work, None
    try:
        yield
    finally:
        _held.work = outer


def do_held() -> None:
    """Does what was held back so far: for whoever deletes rows that it would make anew."""
    held, _held.work = _held.work, None
    for _, work in sorted(held or (), key=itemgetter(0)):
        work()
    if held is not None:
        _held.work = []
