"""Makes a process for each order, from one that has loaded all it takes.

The fork server itself never looks at an order: it hands the socket to a new process, and ends that
process as soon as the other end of its socket is closed. It has one thread, so that a fork is safe.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
import gc
import os
import select
import signal
import socket
from typing import NoReturn, TypeAlias

from copilot_admin.engine.processes.frames import send_replies, take_order
from copilot_admin.engine.processes.limits import Limits, end_this_first
from protocol.json import Json

# What does the work: an order and its bytes become replies.
Perform: TypeAlias = Callable[[Mapping[str, Json], bytes], Iterator[Json]]


def serve(perform: Perform, *, limits: Limits) -> None:
    """Carries out orders whose sockets come over the standard input, until that is closed."""
    end_this_first()
    gc.collect()
    gc.freeze()  # what is loaded stays shared with the processes that are made
    with socket.socket(fileno=0) as orders:
        _ForkServer(orders, perform, limits).run()


class _ForkServer:
    def __init__(self, orders: socket.socket, perform: Perform, limits: Limits) -> None:
        self._orders = orders
        self._perform = perform
        self._limits = limits
        self._jobs: dict[int, socket.socket] = {}  # by the id of the process
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
        while self._turn(dict(self._poll.poll())):
            self._bury()
        for process in self._jobs:
            os.kill(process, signal.SIGKILL)

    def _turn(self, events: Mapping[int, int]) -> bool:
        """Does what there is to do; whether it goes on after that."""
        if self._ended.fileno() in events:
            with suppress(BlockingIOError):
                self._ended.recv(4096)
        for process, job in self._jobs.items():
            if job.fileno() in events:  # its other end is closed: nobody waits for it
                self._poll.unregister(job)
                os.kill(process, signal.SIGKILL)
        return self._orders.fileno() not in events or self._start_next()

    def _start_next(self) -> bool:
        _, sockets, _, _ = socket.recv_fds(self._orders, 1, 1)
        if not sockets:
            return False
        job = socket.socket(fileno=sockets[0])
        try:
            process = os.fork()
        except OSError:  # the machine has no more processes: who ordered sees the socket close
            job.close()
            return True
        if process == 0:
            self._carry_out(job)
        self._jobs[process] = job
        self._poll.register(job, 0)  # that it is closed is always told
        return True

    def _carry_out(self, job: socket.socket) -> NoReturn:
        """Does the work, as the new process. Whatever is raised ends it without a last reply."""
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            # An end that stayed open here would hide from others that theirs was closed.
            for other in (self._orders, self._ended, self._wake, *self._jobs.values()):
                other.close()
            self._limits.set()
            order, body = take_order(job)
            send_replies(job, self._perform(order, body))
        finally:
            os._exit(0)

    def _bury(self) -> None:
        """Closes the sockets of the processes that have ended."""
        with suppress(ChildProcessError):
            while process := os.waitpid(-1, os.WNOHANG)[0]:
                job = self._jobs.pop(process)
                with suppress(KeyError):
                    self._poll.unregister(job)
                job.close()
