"""The real application behind a real socket, in a thread of the test process."""

from collections.abc import Iterator
from contextlib import contextmanager
import socket
import threading

import uvicorn

from copilot_admin.answering.open_run import stop_draining
from copilot_admin.edge.asgi_types import App

START_SECONDS = 20.0


@contextmanager
def serving(app: App) -> Iterator[str]:
    """Serves an application on a free port of 127.0.0.1; gives its base URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app,
            log_level="warning",
            lifespan="on",
            timeout_graceful_shutdown=5,
            ws="websockets-sansio",
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        started = threading.Event()
        while not server.started and thread.is_alive():
            started.wait(0.02)
        assert server.started, "the server did not start"
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(START_SECONDS)
            assert not thread.is_alive(), "the server did not stop"
            stop_draining()  # this process goes on
