"""Worker processes: replaced one by one, stopped together, and given up when one cannot start."""

from uvicorn.supervisors import Multiprocess

# A worker that does not answer its supervisor for so long is killed, with all its answers, and a
# new one has so long to start. One call in C may hold the lock of the interpreter for seconds, and
# on a busy machine a start took longer than uvicorn's own 5 s.
ANSWERS_WITHIN_SECONDS = 120


class Workers(Multiprocess):
    """uvicorn's supervisor; on SIGHUP it replaces workers one by one, each when the next is ready.

    A worker that a signal ended is replaced. One that ended by itself with an error could not
    start, and would fail again for ever: it ends them all.
    """

    has_failed = False

    def keep_subprocess_alive(self) -> None:
        """Replaces what was killed."""
        for process in self.processes:
            # Our copy of the worker's end would keep the pipe open after the worker is gone, and its
            # death would be noticed only when it has not answered in time.
            process.child_conn.close()
        self._look_for_failures()
        super().keep_subprocess_alive()
        self._look_for_failures()

    def terminate_all(self) -> None:
        """Stops all: nobody is left to take a connection, so clients are refused at once."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()

    def _look_for_failures(self) -> None:
        if any((process.exitcode or 0) > 0 for process in self.processes):
            self.has_failed = True
            self.should_exit.set()
