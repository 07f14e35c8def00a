"""Starts the production server: uvicorn with uvloop, whatever the command line says."""

from contextlib import ExitStack
import os
import socket

from django.conf import settings
from django.db import connections
import uvicorn

from copilot_admin.agent.components.registry import registry
from copilot_admin.config.databases import SQLITE
from copilot_admin.config.logs import collect_little
from copilot_admin.errors import ConfigurationError
from copilot_admin.server.http_protocol import BoundedHeads
from copilot_admin.server.listening_pages import ListeningPages
from copilot_admin.server.shared_figures import counting_together
from copilot_admin.server.signals_of_others import ignore_signals_of_others
from copilot_admin.server.workers import ANSWERS_WITHIN_SECONDS, Workers

APPLICATION = "copilot_admin.asgi:application"
DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 7777
SHUTDOWN_MARGIN_SECONDS = 5  # after the last answer: the journal is written, connections close
BACKLOG = 2048
# How often the same socket is listened at. The event loop takes one connection from each in a round:
# from a single one, a thousand that came at once took a thousand rounds, each with a request, and a look
# at the health behind them 3.4 s; now 0.2 s. Each costs a connection 3.5 us.
EARS = 16
# Of a message that a live page sends: nobody reads it, and uvicorn would hold 16 MB.
MOST_SOCKET_BYTES = 4096
LAST_PORT = 65_535
LONGEST_SHOWN = 20  # characters of a wrong value
MOST_WORKERS = 1000  # more is a slip of the finger


def listen(host: str, port: int) -> socket.socket:
    """Opens the server's socket.

    Raises:
        ConfigurationError: The port is taken, or the address is not one of this machine.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return _bound(socket.socket(family, kind, protocol), address)
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", "") or str(error)
        raise ConfigurationError(
            f"The server cannot listen on {host} port {port}: {reason}. Choose another port, "
            "or stop what uses it."
        ) from None


def _bound(listener: socket.socket, address: object) -> socket.socket:
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)  # type: ignore[arg-type]  # what getaddrinfo gave
        listener.listen(BACKLOG)
        listener.set_inheritable(True)  # by worker processes
    except OSError:
        listener.close()
        raise
    return listener


def whole_number(text: str | int, *, option: str, least: int, most: int) -> int:
    """The value of an option of a command.

    Raises:
        ConfigurationError: It is no number, or one out of range.
    """
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        shown = str(text)[:LONGEST_SHOWN]
        raise ConfigurationError(f"{option} {shown}: give a number from {least} to {most}.")
    return number


def port_in(text: str | int) -> int:
    """The port that was given; 0 is any that is free.

    Raises:
        ConfigurationError: It is no port.
    """
    return whole_number(text, option="--port", least=0, most=LAST_PORT)


def workers_in(text: str | int) -> int:
    """How many processes are to serve.

    Raises:
        ConfigurationError: It is no number of processes, or too many for the database.
    """
    workers = whole_number(text, option="--workers", least=1, most=MOST_WORKERS)
    check_workers(workers)
    return workers


def check_workers(workers: int) -> None:
    """Refuses several processes over SQLite, which has one writer and no heartbeat of others.

    Raises:
        ConfigurationError: There would be several.
    """
    if workers > 1 and settings.DATABASES["default"]["ENGINE"] == SQLITE:
        raise ConfigurationError(
            "SQLite serves one process. Set DATABASE_URL to PostgreSQL, or use one worker."
        )


def check_components() -> None:
    """Refuses to start with a component that breaks its contract.

    Raises:
        ConfigurationError: There is one, or a file that cannot be loaded; the text names it.
    """
    faults = registry().faults
    if faults:
        more = len(faults) - 1
        others = f" `manage.py check_components` names {more} more." if more else ""
        raise ConfigurationError(faults[0].sentence + others)


def keep_files_private() -> None:
    """From now on, what this process writes can be read by nobody else."""
    os.umask(0o077)


def _leave_database() -> None:
    """Closes what the checks have opened: the process that keeps workers needs no connections."""
    database = connections["default"]
    database.close()
    if database.vendor == "postgresql":
        database.close_pool()  # type: ignore[attr-defined]  # it has


class _Config(uvicorn.Config):
    """uvicorn's settings; it is asked for the log in each process that serves."""

    def configure_logging(self) -> None:
        """Lets the log cost little."""
        collect_little()
        super().configure_logging()


def serve(listener: socket.socket, *, workers: int = 1) -> None:
    """Serves until a signal ends it.

    Raises:
        ConfigurationError: A worker could not start.
        SystemExit: The only process could not; the status says so.
    """
    keep_files_private()
    ignore_signals_of_others()
    config = _Config(
        APPLICATION,
        workers=workers,
        loop="uvloop",
        http=BoundedHeads,
        ws=ListeningPages,
        ws_max_size=MOST_SOCKET_BYTES,
        ws_per_message_deflate=False,  # what is sent is a few bytes: to unpack would only cost
        lifespan="on",
        log_config=None,  # Django's logging: one line each, no secrets, no query strings
        server_header=False,
        # uvicorn would take a variable that is empty for nobody.
        forwarded_allow_ips=settings.FORWARDED_ALLOW_IPS,
        timeout_worker_healthcheck=ANSWERS_WITHIN_SECONDS,
        timeout_graceful_shutdown=int(settings.DRAIN_SECONDS) + SHUTDOWN_MARGIN_SECONDS,
    )
    with ExitStack() as copies:
        ears = [listener, *(copies.enter_context(listener.dup()) for _ in range(EARS - 1))]
        _serve(config, ears)


def _serve(config: uvicorn.Config, ears: list[socket.socket]) -> None:
    if config.workers > 1:
        _leave_database()
        several = Workers(config, sockets=ears)
        with counting_together():
            several.run()
        if several.has_failed:
            raise ConfigurationError("A worker could not start; the lines above say why.")
    else:
        uvicorn.Server(config).run(sockets=ears)
