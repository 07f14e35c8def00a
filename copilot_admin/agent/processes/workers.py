"""Has orders carried out in processes of their own, a few at the same time.

Any event loop and any thread may give orders. Whoever stops waiting for one closes its socket, and
the process that works on it is ended.
"""

import asyncio
import atexit
from collections.abc import Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
import os
import socket
import subprocess
import sys
from threading import Lock

from copilot_admin.agent.processes.exchange import TooLong, replies_from, send_order
from copilot_admin.agent.processes.losses import Loss
from copilot_admin.agent.processes.places import Places
from protocol.json import Json

AT_ONCE = 2  # processes; each may take a gigabyte
MOST_WAITING = 32
WORK_SECONDS = 30.0  # of one order, by the clock: a process may wait for others' work
WAIT_SECONDS = 35.0  # for a place: longer than the two orders that one question may have begun
MOST_REPLIED = 32 * 1024 * 1024  # bytes of the replies to one order
STOP_SECONDS = 5.0


class OrderFailed(Exception):
    """The process ended before its work was done: by a limit, or by what it worked on."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss)
        self.loss = loss


@dataclass(frozen=True, slots=True)
class _Line:
    """This end of the sockets of a process: that of its order, and that on which its loss is told."""

    order: socket.socket
    loss: socket.socket

    def close(self) -> None:
        self.order.close()
        self.loss.close()


class ModuleWorkers:
    """The processes of one module, which calls `fork_server.serve`.

    Args:
        module: Which carries orders out.
        at_once: Processes.
        waiting: How many orders may wait for one.
    """

    def __init__(self, module: str, *, at_once: int = AT_ONCE, waiting: int = MOST_WAITING) -> None:
        self._module = module
        self._places = Places(at_once, waiting=waiting, seconds=WAIT_SECONDS)
        self._lock = Lock()
        self._server: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None
        atexit.register(self.stop)

    async def carry_out(
        self,
        order: Mapping[str, Json],
        body: bytes | str,
        *,
        take: Callable[[Json], None],
    ) -> None:
        """Has an order carried out, and gives each reply to `take`.

        Args:
            order: Says what is to be done.
            body: What it is done with; a text must be ASCII.
            take: Raises `ValueError`, `TypeError` or `KeyError` for a reply that it does not know.

        Raises:
            places.Busy: As many are working and waiting as may.
            OrderFailed: There was no whole reply.
        """
        async with self._places.one():
            await self._carried_out(order, body, take)

    async def _carried_out(
        self, order: Mapping[str, Json], body: bytes | str, take: Callable[[Json], None]
    ) -> None:
        line = await self._line()
        try:
            async with asyncio.timeout(WORK_SECONDS):
                await _carried_out(line, order, body, take=take)
        except TimeoutError:
            raise OrderFailed(Loss.TIME) from None
        finally:
            line.close()

    def start(self) -> None:
        """Starts what makes the processes, if it is not running; blocks for some milliseconds."""
        with self._lock:
            if not self._is_running():
                self._end_server()
                self._start_server()

    def stop(self) -> None:
        """Ends it and every process that it made; the next order starts it again."""
        with self._lock:
            self._end_server()

    async def _line(self) -> _Line:
        if not self._is_running():
            await asyncio.to_thread(self.start)
        order, its_order = socket.socketpair()
        loss, its_loss = socket.socketpair()
        for mine in (order, loss):
            mine.setblocking(False)
        # What cannot be sent is closed here: its end is seen when the replies are read.
        with its_order, its_loss, self._lock, suppress(OSError):
            if self._orders is not None:
                ends = [its_order.fileno(), its_loss.fileno()]
                socket.send_fds(self._orders, [b"\0"], ends)
        return _Line(order, loss)

    def _is_running(self) -> bool:
        return self._server is not None and self._server.poll() is None

    def _start_server(self) -> None:
        orders, its = socket.socketpair()
        # Nothing else of the environment: it holds keys.
        environment = {"PYTHONPATH": os.pathsep.join(sys.path)}
        with its:
            self._server = subprocess.Popen(  # noqa: S603  # our own interpreter, our own module
                [sys.executable, "-P", "-m", self._module],
                stdin=its.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # what a reader says of a file may quote it
                env=environment,
                start_new_session=True,  # a Ctrl-C is for the server, which ends this one
            )
        self._orders = orders

    def _end_server(self) -> None:
        if self._orders is not None:
            self._orders.close()  # it ends its processes and itself
        if self._server is not None:
            try:
                self._server.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
        self._server = self._orders = None


async def _carried_out(
    line: _Line, order: Mapping[str, Json], body: bytes | str, *, take: Callable[[Json], None]
) -> None:
    try:
        await send_order(line.order, order, body)
        async with aclosing(replies_from(line.order, most_bytes=MOST_REPLIED)) as replies:
            async for reply in replies:
                take(reply)
                await asyncio.sleep(0)  # others have their turn between two pages
    except (OSError, EOFError) as error:
        said = await asyncio.get_running_loop().sock_recv(line.loss, 1)
        raise OrderFailed(Loss(said[0]) if said else Loss.UNKNOWN) from error
    except TooLong as error:
        raise OrderFailed(Loss.MEMORY) from error
    except (ValueError, TypeError, KeyError) as error:
        raise OrderFailed(Loss.DAMAGE) from error
