"""A worker as its supervisor sees it: asked how it is, without waiting for the answer."""

import multiprocessing
import os
import signal
import socket
import threading
import time

from uvicorn import Config
from uvicorn.supervisors.multiprocess import Process

END_AT_ONCE = signal.SIGQUIT  # to a worker that drains


class WorkerProcess(Process):
    """uvicorn's process of a worker; `serves` is what it said last.

    A worker answers from a thread of its own, which one call in C may keep waiting for seconds.
    """

    def __init__(self, config: Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self.serves = False
        self._asked_at: float | None = None
        self._started_at = time.monotonic()

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Serves, in the process itself, and goes down with its supervisor.

        Of one that was killed nobody would ever end it, and it holds the port on which the next
        server is to listen. uvicorn does not notice: both ends of its pipe are in the worker.
        """
        threading.Thread(target=_end_with_parent, daemon=True).start()
        super().target(sockets)

    def start(self) -> None:
        """Starts the process."""
        super().start()
        # Our copy of the worker's end would keep the pipe open after the worker is gone.
        self.child_conn.close()

    def look(self) -> None:
        """Hears what it has answered, and asks again."""
        try:
            if self.parent_conn.poll():
                self.serves = self.parent_conn.recv()
                self._asked_at = None
            if self._asked_at is None:
                self.parent_conn.send(b"ping")
                self._asked_at = time.monotonic()
        except (OSError, EOFError):  # it has ended; its exit code says how
            return

    def end_at_once(self) -> None:
        """Lets it wait for its answers no longer."""
        if self.pid is not None and not self.has_ended:
            os.kill(self.pid, END_AT_ONCE)

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self.exitcode is not None

    @property
    def seconds(self) -> float:
        """How long it has been there."""
        return time.monotonic() - self._started_at

    @property
    def silent_seconds(self) -> float:
        """How long it has owed an answer."""
        return 0.0 if self._asked_at is None else time.monotonic() - self._asked_at


def _end_with_parent() -> None:
    """Ends this process as a signal does, answers first, when the one that started it is gone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
