"""The production server: its address, its options, its worker processes."""

import socket
from typing import Any

from django.core.management import CommandError, call_command
import pytest
import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from copilot_admin.config.databases import SQLITE
from copilot_admin.errors import ConfigurationError
from copilot_admin.server import serve as serve_module
from copilot_admin.server.serve import Supervisor, listen, serve


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[uvicorn.Config]:
    """The options of servers that would have been started."""
    configs: list[uvicorn.Config] = []
    monkeypatch.setattr(
        uvicorn.Server, "run", lambda server, sockets: configs.append(server.config)
    )
    monkeypatch.setattr(Multiprocess, "run", lambda several: configs.append(several.config))
    monkeypatch.setattr("signal.signal", lambda *_: None)
    return configs


@pytest.mark.django_db(transaction=True)
def test_one_process_is_started_with_our_options(started, settings):
    settings.DRAIN_SECONDS = 7.0
    call_command("serve", "--port", "0")
    (config,) = started
    assert (config.app, config.workers, config.loop, config.lifespan, config.proxy_headers) == (
        "copilot_admin.asgi:application",
        1,
        "uvloop",
        "on",
        False,
    )
    assert (config.timeout_graceful_shutdown, config.ws_max_size) == (12, 4096)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--port", "65536"), "Could not listen on 127.0.0.1 port 65536"),
        (("--host", "127..1", "--port", "0"), "Could not listen on 127..1 port 0"),
        (("--workers", "0"), "--workers must be at least 1"),
    ],
)
def test_an_option_that_is_not_valid_is_one_line(arguments, message):
    with pytest.raises(CommandError) as refused:
        call_command("serve", *arguments)
    assert message in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert ".." not in str(refused.value).replace("127..1", "")


@pytest.mark.parametrize("command", ["serve", "quickstart"])
def test_a_port_in_use_is_one_line(command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"127.0.0.1 port {port}: Address already in use"):
            call_command(command, "--port", str(port))


def test_several_workers_need_postgresql(settings, monkeypatch):
    database = settings.DATABASES["default"]
    monkeypatch.setitem(database, "ENGINE", SQLITE)
    with pytest.raises(CommandError, match="SQLite supports one worker"):
        call_command("serve", "--workers", "2")
    monkeypatch.setitem(database, "ENGINE", "django.db.backends.postgresql")
    serve_module.check_workers(2)


class Worker:
    """A worker process of a test."""

    def __init__(self, pid: int, exitcode: int | None = None) -> None:
        self.pid = pid
        self.exitcode = exitcode
        self.child_conn = self

    def close(self) -> None:
        """The supervisor closes its copy of the pipe."""

    def terminate(self) -> None:
        """The supervisor tells it to end."""


@pytest.fixture
def supervisor(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("signal.signal", lambda *_: None)
    listener = socket.create_server(("127.0.0.1", 0))
    supervisor: Any = Supervisor(uvicorn.Config("any", workers=2, log_config=None), [listener])
    supervisor.processes = [Worker(1), Worker(2)]
    yield supervisor
    listener.close()


def test_a_worker_that_cannot_start_is_an_error(started, monkeypatch):
    def fail(several: Any) -> None:
        several.processes = [Worker(1), Worker(2, STARTUP_FAILURE)]

    monkeypatch.setattr(Multiprocess, "run", fail)
    with (
        listen("127.0.0.1", 0) as listener,
        pytest.raises(ConfigurationError, match="A worker could not start"),
    ):
        serve(listener, workers=2)
