"""The production server: uvicorn with uvloop."""

from contextlib import ExitStack
import os
import socket
from tempfile import TemporaryDirectory

from django.conf import settings
from prometheus_client.multiprocess import mark_process_dead
import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from copilot_admin.config.databases import SQLITE
from copilot_admin.errors import ConfigurationError

METRICS_DIRECTORY = "PROMETHEUS_MULTIPROC_DIR"  # read by prometheus_client when it is imported
APPLICATION = "copilot_admin.asgi:application"
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 7777
SHUTDOWN_MARGIN_SECONDS = 5  # after the drain: the transcript store is flushed, connections close
MAX_WEBSOCKET_MESSAGE_BYTES = 4096  # live pages only listen
# A worker that doesn't answer the supervisor for so long is killed. uvicorn's default of 5 s is shorter
# than the start of a worker on a busy machine.
WORKER_TIMEOUT_SECONDS = 60


def listen(host: str, port: int) -> socket.socket:
    """Open the server's socket; port 0 is any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(2048)
    except (OSError, OverflowError, UnicodeError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or str(error).rstrip(".")
        raise ConfigurationError(
            f"Could not listen on {host} port {port}: {reason}. Choose another address, or stop the "
            "program that uses it."
        ) from error
    listener.set_inheritable(True)  # by worker processes
    return listener


def check_workers(workers: int) -> None:
    """Refuse several processes over SQLite, which has one writer."""
    if workers < 1:
        raise ConfigurationError("--workers must be at least 1.")
    if workers > 1 and settings.DATABASES["default"]["ENGINE"] == SQLITE:
        raise ConfigurationError(
            "SQLite supports one worker. Set DATABASE_URL to PostgreSQL, or use --workers 1."
        )


def serve(listener: socket.socket, *, workers: int = 1) -> None:
    config = uvicorn.Config(
        APPLICATION,
        workers=workers,
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio",
        ws_max_size=MAX_WEBSOCKET_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,  # Django's logging: one line each, no secrets, no query strings
        server_header=False,
        proxy_headers=False,  # read by our own middleware, which keeps the peer's address
        timeout_worker_healthcheck=WORKER_TIMEOUT_SECONDS,
        timeout_graceful_shutdown=int(settings.DRAIN_SECONDS) + SHUTDOWN_MARGIN_SECONDS,
    )
    if workers == 1:
        uvicorn.Server(config).run(sockets=[listener])
        return
    supervisor = Supervisor(config, [listener])
    with ExitStack() as stack:
        if settings.METRICS.is_enabled:  # workers add up their metrics in one directory
            directory = TemporaryDirectory(prefix="copilot-metrics-")
            os.environ[METRICS_DIRECTORY] = stack.enter_context(directory)
            stack.callback(os.environ.pop, METRICS_DIRECTORY)
        supervisor.run()
    if any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes):
        raise ConfigurationError("A worker could not start. The log lines above say why.")


class Supervisor(Multiprocess):
    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        super().__init__(config, sockets)
        self._worker_pids: set[int] = set()

    def keep_subprocess_alive(self) -> None:
        for process in self.processes:
            # The copy of the worker's end would keep a ping waiting for a worker that has just died.
            process.child_conn.close()
        super().keep_subprocess_alive()
        pids = {process.pid for process in self.processes if process.pid is not None}
        for pid in self._worker_pids - pids:
            drop_gauges(pid)
        self._worker_pids = pids

    def terminate_all(self) -> None:
        """Drain all workers; a proxy gets a refusal at once and asks the next server."""
        for listener in self.sockets:
            listener.close()
        super().terminate_all()


def drop_gauges(pid: int) -> None:
    """Drop the gauges of a process that ended; its counters stay."""
    if METRICS_DIRECTORY in os.environ:
        mark_process_dead(pid)  # type: ignore[no-untyped-call]
