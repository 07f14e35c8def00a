"""Worker processes: replaced one by one, stopped together, and given up when one cannot start."""

import logging
import signal
import socket
import time

from uvicorn import Config
from uvicorn.supervisors import Multiprocess

from copilot_admin.server.shared_figures import forget_process
from copilot_admin.server.worker_process import WorkerProcess

# A worker that does not answer its supervisor for so long is killed, with all its answers, and a
# new one has so long to start. One call in C may hold the lock of the interpreter for seconds, and
# on a busy machine a start took longer than uvicorn's own 5 s.
ANSWERS_WITHIN_SECONDS = 120
AGAIN_SECONDS = 10.0  # between starts that fail, each of which takes some seconds of a processor
LOOK_SECONDS = 0.1  # between two looks at workers that are to end
_ENDING = frozenset({signal.SIGTERM, signal.SIGINT})

logger = logging.getLogger("uvicorn.error")


class Workers(Multiprocess):
    """uvicorn's supervisor; on SIGHUP it replaces workers one by one, each when the next is ready.

    It never waits for a worker: what is to happen next is looked at in each round, so that a signal
    or a worker that died is seen while another one starts, is busy, or answers its last questions.

    A worker that a signal ended is replaced. One that ended by itself with an error could not
    start: before any has served it would fail again for ever, and ends them all. Later it is what
    it needs that is away, and it is tried again.
    """

    has_failed = False
    _have_served = False

    def __init__(self, config: Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self.processes: list[WorkerProcess] = []  # type: ignore[assignment]  # each is one of ours
        self._most_seconds = config.timeout_worker_healthcheck
        self._outdated: list[WorkerProcess] = []  # those to be replaced
        self._coming: WorkerProcess | None = None  # replaces the first of them when it is ready
        self._leaving: list[WorkerProcess] = []  # answer their last questions

    def init_processes(self) -> None:
        """Starts as many workers as the server was told to have."""
        self.processes = [self._started() for _ in range(self.processes_num)]

    def keep_subprocess_alive(self) -> None:
        """Looks at each worker: what was killed or hangs is replaced, what is outdated too."""
        for worker in self._leaving:
            if worker.has_ended:
                forget_process(worker.pid)
        self._leaving = [worker for worker in self._leaving if not worker.has_ended]
        self._have_served = self._have_served or any(worker.serves for worker in self.processes)
        if not self._have_served and any(map(_has_failed, self.processes)):
            self.has_failed = True
            self.should_exit.set()
        if self.should_exit.is_set():
            return
        for place, worker in enumerate(self.processes):
            worker.look()
            if _has_failed(worker) and worker.seconds < AGAIN_SECONDS:
                continue
            if worker.has_ended or worker.silent_seconds > self._most_seconds:
                worker.kill()
                worker.join()
                forget_process(worker.pid)
                logger.info("Child process [%s] died", worker.pid)
                self.processes[place] = self._started()
        self._replace()

    def restart_all(self) -> None:
        """Lets each worker be replaced; one that replaces another already goes on."""
        self._outdated = list(self.processes)

    def terminate_all(self) -> None:
        """Stops all: nobody is left to take a connection, so clients are refused at once."""
        for listener in self.sockets:
            listener.close()
        if self._coming is not None:
            self._coming.kill()
        super().terminate_all()

    def join_all(self) -> None:
        """Waits until all have ended; a signal that comes again is for them, and they end at once."""
        self.signal_queue.clear()
        while not all(worker.has_ended for worker in self._all()):
            if _ENDING.intersection(self.signal_queue):
                self.signal_queue.clear()
                for worker in self._all():
                    worker.end_at_once()
            time.sleep(LOOK_SECONDS)

    def handle_ttin(self) -> None:
        """Adds a worker, as the signal TTIN asks for."""
        self.processes_num += 1
        self.processes.append(self._started())

    def handle_ttou(self) -> None:
        """Takes a worker away, unless it is the only one."""
        if self.processes_num > 1:
            self.processes_num -= 1
            self._dismiss(self.processes.pop())

    def _started(self) -> WorkerProcess:
        worker = WorkerProcess(self.config, self.sockets)
        worker.start()
        return worker

    def _all(self) -> list[WorkerProcess]:
        coming = [] if self._coming is None else [self._coming]
        return [*self.processes, *self._leaving, *coming]

    def _dismiss(self, worker: WorkerProcess) -> None:
        worker.terminate()
        self._leaving.append(worker)

    def _replace(self) -> None:
        """Takes the next step of a replacement; the one before has to have left."""
        self._outdated = [worker for worker in self._outdated if worker in self.processes]
        if self._coming is not None:
            self._coming.look()
            self._welcome(self._coming)
        elif self._outdated and not self._leaving:
            self._coming = self._started()

    def _welcome(self, worker: WorkerProcess) -> None:
        """Puts a worker that serves in the place of an old one; one that cannot ends the matter."""
        if worker.serves:
            self._coming = None
            if self._outdated:
                old = self._outdated.pop(0)
                self.processes[self.processes.index(old)] = worker
                self._dismiss(old)
            else:  # what it was to replace has died, and has been replaced
                self._dismiss(worker)
        elif worker.has_ended or worker.seconds > self._most_seconds:
            self._coming, self._outdated = None, []
            worker.kill()
            worker.join()
            forget_process(worker.pid)
            logger.error("New child process [%s] could not start: the old ones go on.", worker.pid)


def _has_failed(worker: WorkerProcess) -> bool:
    """Whether it ended by itself, with an error."""
    return (worker.exitcode or 0) > 0
