"""Names of hosts looked up in threads of their own, for each kind of address so many at a time.

A name whose servers say nothing is waited for up to half a minute, and nothing can end the wait. uvloop
looks up two names at a time in all, asyncio's own loop in the threads of everything else: two links to
such a name would hold up the lookups of every model's server. Anybody may send a link.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
import socket
from threading import Thread
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from aiohttp.abc import AbstractResolver, ResolveResult

Found: TypeAlias = list[tuple[Any, ...]]  # as `socket.getaddrinfo` gives it
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class Names(AbstractResolver):
    """Looks up names for aiohttp.

    Args:
        at_once: Names that may be looked up at the same time, in one event loop; others wait.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._free: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            WeakKeyDictionary()
        )

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a name.

        Raises:
            OSError: It has none.
        """
        loop = asyncio.get_running_loop()
        free = self._free.setdefault(loop, asyncio.Semaphore(self._at_once))
        await free.acquire()
        looking: Future[Found] = Future()
        looking.set_running_or_notify_cancel()  # whoever gives up waiting does not end it
        looking.add_done_callback(lambda _: _in(loop, free.release))
        # A daemon: a server that stops does not wait for the servers of names.
        thread = Thread(target=_look_up, args=(looking, host, port, family), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # the system has no more threads; the place is not kept
            unknown = OSError(str(error))
            unknown.__cause__ = error
            looking.set_exception(unknown)
        return [_result(host, one) for one in await asyncio.wrap_future(looking)]

    async def close(self) -> None:
        """There is nothing to close: it belongs to no session."""


def _look_up(looking: "Future[Found]", host: str, port: int, family: int) -> None:
    error: Exception = OSError(f"Looking up {host} broke.")  # of a fault: somebody waits for it
    try:
        found = socket.getaddrinfo(
            host, port, family, socket.SOCK_STREAM, flags=socket.AI_ADDRCONFIG
        )
        looking.set_result(found)
    except OSError as unknown:
        error = unknown
    except UnicodeError as unspeakable:  # a label that is empty or too long
        error = OSError(str(unspeakable))
    finally:
        if not looking.done():
            looking.set_exception(error)


def _in(loop: asyncio.AbstractEventLoop, work: Callable[[], object]) -> None:
    with suppress(RuntimeError):  # it is closed
        loop.call_soon_threadsafe(work)


def _result(host: str, found: tuple[Any, ...]) -> ResolveResult:
    family, _kind, protocol, _name, address = found
    return ResolveResult(
        hostname=host,
        host=address[0],
        port=address[1],
        family=family,
        proto=protocol,
        flags=_NUMERIC,
    )


# Those of strangers; those that operators and builders have entered, of models' servers and others.
OF_LINKS = Names(16)
OF_PROVIDERS = Names(32)
OF_RECEIVERS = Names(8)
