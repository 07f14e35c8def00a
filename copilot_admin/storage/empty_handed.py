"""Threads that wait for somebody else's server hold nothing meanwhile that others wait for.

A page has a turn to be made and a connection of the pool. Eight that waited for a provider which did
not answer kept all other pages waiting, and the database with them.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from threading import BoundedSemaphore
from typing import ParamSpec, TypeVar

from asgiref.sync import async_to_sync

from copilot_admin.errors import Unavailable
from copilot_admin.storage.database_thread import leave_connections

P = ParamSpec("P")
T = TypeVar("T")

# Threads that a provider keeps for half a minute each; of people who press a button.
MOST_WAITING = 32


def _nothing() -> None:
    """Stands for giving a turn back where nobody keeps turns: in a command, or behind another server."""


# What gives back the turn of the page that is being made; it may be called from any thread.
TURN: ContextVar[Callable[[], object]] = ContextVar("turn", default=_nothing)
_places = BoundedSemaphore(MOST_WAITING)


@contextmanager
def empty_handed() -> Iterator[None]:
    """Gives back turn and connections while the block waits; those of a transaction stay.

    Raises:
        Unavailable: Too many wait already.
    """
    if not _places.acquire(blocking=False):
        raise Unavailable(
            "Too many pages wait for other servers. Try again in a few seconds.", code="busy"
        )
    try:
        TURN.get()()
        leave_connections()
        yield
    finally:
        _places.release()


def wait_for(asking: Callable[P, Awaitable[T]]) -> Callable[P, T]:
    """Makes a function of a thread of one that asks somebody else's server."""

    @wraps(asking)
    def waiting(*args: P.args, **kwargs: P.kwargs) -> T:
        with empty_handed():
            return async_to_sync(asking)(*args, **kwargs)

    return waiting
