"""A worker that leaves its colleagues: no new connections, all questions that it has."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from copilot_admin.runs import open_run
from copilot_admin.server import listening, shutdown
from copilot_admin.server.http_protocol import BoundedHeads
from copilot_admin.server.listening import leave
from tests.http.test_edge import echo


class Listener:
    """A listening socket that knows whether it still listens."""

    def __init__(self) -> None:
        self.closed = False

    def close(self) -> None:
        self.closed = True


class Connection(BoundedHeads):
    """A connection whose question comes, or has come, or never does."""

    def __init__(self, *, cycle: object) -> None:
        self.cycle = cycle  # type: ignore[assignment]
        self.told = False

    def shutdown(self) -> None:
        self.told = True


def server_with(*connections: Connection, workers: int = 2) -> Any:
    server: Any = uvicorn.Server(uvicorn.Config(echo, workers=workers, log_config=None))
    server.servers = [Listener()]
    server.server_state.connections = {*connections}
    return server


def test_it_takes_no_more_and_ends_connections_after_their_answer():
    server = server_with(Connection(cycle=object()), Connection(cycle=object()))
    asyncio.run(leave(server))
    assert server.servers[0].closed
    assert [one.told for one in server.server_state.connections] == [True, True]


def test_a_question_that_is_on_its_way_is_waited_for(monkeypatch):
    late = Connection(cycle=None)

    async def arrives(seconds: float) -> None:
        assert not late.told
        late.cycle = object()  # type: ignore[assignment]

    monkeypatch.setattr(listening, "asyncio", SimpleNamespace(sleep=arrives))
    asyncio.run(leave(server_with(late)))
    assert late.told


def test_a_connection_without_a_question_is_not_waited_for_ever(monkeypatch):
    looks: list[float] = []

    async def passes(seconds: float) -> None:
        looks.append(seconds)

    silent = Connection(cycle=None)
    monkeypatch.setattr(listening, "asyncio", SimpleNamespace(sleep=passes))
    asyncio.run(leave(server_with(silent)))
    assert (sum(looks), silent.told) == (pytest.approx(listening.LATE_SECONDS), False)


@pytest.mark.parametrize(("workers", "leaves"), [(1, False), (2, True)])
def test_only_a_worker_with_colleagues_leaves(workers, leaves):
    server = server_with(workers=workers)
    assert (shutdown._server_behind(server.handle_exit) is server) == leaves


def test_a_handler_that_is_no_servers_leaves_nothing():
    assert shutdown._server_behind(lambda number, frame: None) is None


def test_a_worker_that_leaves_refuses_nothing(monkeypatch):
    order: list[str] = []

    async def left(server: object) -> None:
        order.append("left")

    async def drained(then: Any, *, seconds: float, hurry: asyncio.Event) -> None:
        order.append("drained")

    monkeypatch.setattr(shutdown, "leave", left)
    monkeypatch.setattr(shutdown, "drain", drained)

    async def scenario() -> None:
        ending = shutdown._Ending(asyncio.get_running_loop())
        await ending._leave_and_drain(lambda: None, server_with())

    asyncio.run(scenario())
    assert order == ["left", "drained"]
    assert not open_run.is_draining()


def test_a_worker_that_is_told_to_stop_while_it_starts_has_nothing_to_leave():
    server = server_with()
    del server.servers  # as uvicorn has it before it listens
    asyncio.run(leave(server))
