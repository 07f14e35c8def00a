"""Makes a process for each order, from one that has loaded all it takes.

The fork server itself never looks at an order: it hands the socket to a process that waits for one,
and ends that process as soon as the other end of its socket is closed. It has one thread, so that a
fork is safe.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
import gc
import os
import select
import signal
import socket

from copilot_admin.agent.processes.limits import Limits, end_this_first
from copilot_admin.agent.processes.losses import Loss, loss_of
from copilot_admin.agent.processes.spare import Perform, Spare


def serve(perform: Perform, *, limits: Limits) -> None:
    """Carries out orders whose sockets come over the standard input, until that is closed."""
    end_this_first()
    gc.collect()
    gc.freeze()  # what is loaded stays shared with the processes that are made
    with socket.socket(fileno=0) as orders:
        _ForkServer(orders, perform, limits).run()


@dataclass(frozen=True, slots=True)
class _Job:
    """A process at work: the socket of its order, and the one on which its loss is told."""

    order: socket.socket
    loss: socket.socket

    def close(self, loss: Loss | None = None) -> None:
        """Closes both, after saying what the process died of."""
        if loss is not None:
            with suppress(OSError):  # nobody waits for it
                self.loss.send(bytes([loss]))
        self.loss.close()
        self.order.close()


class _ForkServer:
    def __init__(self, orders: socket.socket, perform: Perform, limits: Limits) -> None:
        self._orders = orders
        self._perform = perform
        self._limits = limits
        self._jobs: dict[int, _Job] = {}  # by the id of the process
        self._spare: Spare | None = None
        self._poll = select.poll()
        # A child that ends wakes the poll through this pair.
        self._ended, self._wake = socket.socketpair()

    def run(self) -> None:
        for end in (self._ended, self._wake):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake.fileno(), warn_on_full_buffer=False)
        self._poll.register(self._orders, select.POLLIN)
        self._poll.register(self._ended, select.POLLIN)
        self._make_spare()
        while self._turn(dict(self._poll.poll())):
            self._bury()
            self._make_spare()
        for process in self._jobs:
            os.kill(process, signal.SIGKILL)

    def _turn(self, events: Mapping[int, int]) -> bool:
        if self._ended.fileno() in events:
            with suppress(BlockingIOError):
                self._ended.recv(4096)
        for process, job in self._jobs.items():
            if job.order.fileno() in events:  # its other end is closed: nobody waits for it
                self._poll.unregister(job.order)
                os.kill(process, signal.SIGKILL)
        return self._orders.fileno() not in events or self._start_next()

    def _start_next(self) -> bool:
        _, sockets, _, _ = socket.recv_fds(self._orders, 1, 2)
        if not sockets:
            return False
        job = _Job(*(socket.socket(fileno=one) for one in sockets))
        process = self._given(job) or self._given(job)  # a spare process may have been lost
        if process is None:
            job.close()  # who ordered sees it
        else:
            self._jobs[process] = job
            self._poll.register(job.order, 0)  # that it is closed is always told
        return True

    def _given(self, job: _Job) -> int | None:
        self._make_spare()
        spare, self._spare = self._spare, None
        if spare is None:
            return None
        try:
            spare.give(job.order)
        except OSError:
            return None
        return spare.process

    def _make_spare(self) -> None:
        if self._spare is None:
            with suppress(OSError):  # the machine has no more processes
                self._spare = Spare(
                    self._perform,
                    limits=self._limits,
                    closing=(self._orders, self._ended, self._wake, *self._sockets()),
                )

    def _sockets(self) -> Iterator[socket.socket]:
        for job in self._jobs.values():
            yield from (job.order, job.loss)

    def _bury(self) -> None:
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                process, status = found
                job = self._jobs.pop(process, None)
                if job is not None:  # else it was spare
                    with suppress(KeyError):
                        self._poll.unregister(job.order)
                    job.close(loss_of(status))
