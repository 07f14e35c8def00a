"""The real application behind a real socket, in a thread of the test process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
import socket
import threading

import pytest
import uvicorn

from copilot_admin.component_calls.call import CALLS
from copilot_admin.http.scope import App
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.runs.open_run import DRAINING
from copilot_admin.runs.run import RUNNING
from copilot_admin.server import lifecycle
from copilot_admin.server.periodic_tasks import PERIODIC_TASKS
from tests.polling import HANGS_SECONDS, eventually


@dataclass(frozen=True, slots=True)
class LiveServer:
    """A server that runs beside the test."""

    url: str
    requests: set[object]  # those under way, sockets of pages too

    def is_idle(self) -> bool:
        """Whether all that was asked is answered, or its asker gone, and nothing goes on."""
        return not (self.requests or RUNNING or CALLS) and not background_tasks._coroutines


def shorten_periodic_tasks(patch: pytest.MonkeyPatch) -> None:
    """Let a server that starts later call its periodic tasks without delay."""
    tasks = tuple(task._replace(interval_seconds=0.05) for task in PERIODIC_TASKS)
    patch.setattr(lifecycle, "PERIODIC_TASKS", tasks)


@contextmanager
def live_server(app: App) -> Iterator[LiveServer]:
    """Serves an application on a free port of 127.0.0.1."""
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        config = uvicorn.Config(
            app,
            log_level="warning",
            lifespan="on",
            timeout_graceful_shutdown=int(HANGS_SECONDS),
            http="httptools",
            ws="websockets-sansio",
            proxy_headers=False,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        started = eventually(lambda: server.started or not thread.is_alive())
        assert started and server.started, "the server did not start"
        port = listener.getsockname()[1]
        try:
            yield LiveServer(f"http://127.0.0.1:{port}", server.server_state.tasks)
        finally:
            server.should_exit = True
            thread.join(2 * HANGS_SECONDS)
            assert not thread.is_alive(), "the server did not stop"
            DRAINING.clear()  # this process goes on


@contextmanager
def serving(app: App) -> Iterator[str]:
    """A server that starts or stops within a test; gives its base URL.

    It shares what is of the process, so no other one may run in this test's module.
    """
    with live_server(app) as server:
        yield server.url
