"""A process that was made before there is an order for it, so that no order waits for a fork.

A fork takes 2 to 4 ms, and the new process another one before it has its first page of memory; a
process that waits already has that behind it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
import os
import signal
import socket
from typing import NoReturn, TypeAlias

from copilot_admin.agent.processes.frames import send_replies, take_order
from copilot_admin.agent.processes.limits import Limits
from copilot_admin.agent.processes.losses import NO_MEMORY
from protocol.json import Json

# What does the work: an order and its bytes become replies.
Perform: TypeAlias = Callable[[Mapping[str, Json], bytes], Iterator[Json]]
_BROKEN = 1


class Spare:
    """A process that waits for the socket of its order.

    Args:
        perform: What it will do.
        limits: Which it has from its first moment on.
        closing: What the process that makes it has open, and it must not keep: an end that stayed
            open here would hide from others that theirs was closed.

    Raises:
        OSError: The machine has no more processes.
    """

    def __init__(
        self, perform: Perform, *, limits: Limits, closing: Iterable[socket.socket]
    ) -> None:
        self._line, its = socket.socketpair()
        with its:
            try:
                self.process = os.fork()
            except OSError:
                self.close()
                raise
            if self.process == 0:
                _serve_once(its, perform, limits=limits, closing=(self._line, *closing))

    def give(self, job: socket.socket) -> None:
        """Hands it the socket of its order; it is spare no longer.

        Raises:
            OSError: It has ended meanwhile.
        """
        try:
            socket.send_fds(self._line, [b"\0"], [job.fileno()])
        finally:
            self.close()

    def close(self) -> None:
        """Lets it end, if it has no order."""
        self._line.close()


def _serve_once(
    line: socket.socket, perform: Perform, *, limits: Limits, closing: Iterable[socket.socket]
) -> NoReturn:
    status = _BROKEN
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for other in closing:
            other.close()
        limits.set()
        _, sockets, _, _ = socket.recv_fds(line, 1, 1)
        for one in sockets:  # none, if there will be no order
            with socket.socket(fileno=one) as job:
                order, body = take_order(job)
                send_replies(job, perform(order, body))
        status = 0
    except MemoryError:
        status = NO_MEMORY
    finally:
        os._exit(status)
