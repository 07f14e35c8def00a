"""Pages come a few at a time, and what nobody takes does not fill the memory."""

import asyncio
from collections.abc import Callable
import json
from typing import Any

import pytest

from copilot_admin.http import answers_in_turn
from copilot_admin.http.answers_in_turn import (
    LOG_INS_AT_ONCE,
    PAGES_AT_ONCE,
    ROOM_BYTES,
    AnswersInTurn,
)
from copilot_admin.http.asgi_types import HANG_UP_KEY, Message
from tests.agent.virtual_time import run_at_once
from tests.http.asgi_client import call, scope

PAGE, LOG_IN, AGENTS = "/admin/", "/admin/login/", "/agents.json"


class Made:
    """An application whose answers are made when they are let, and have a length."""

    def __init__(self, *, length: int = 0) -> None:
        self.length = length
        self.now = self.most = self.all = 0
        self.may = asyncio.Event()

    async def __call__(self, request: Any, receive: Any, send: Any) -> None:
        self.now += 1
        self.all += 1
        self.most = max(self.most, self.now)
        await self.may.wait()
        self.now -= 1
        length = [(b"Content-Length", str(self.length).encode())] if self.length else []
        await send({"type": "http.response.start", "status": 200, "headers": length})
        await send({"type": "http.response.body", "body": bytes(self.length)})


class Client:
    """A client that takes what comes as long as it wants to."""

    def __init__(self, *, takes: bool = True) -> None:
        self.takes = asyncio.Event()
        if takes:
            self.takes.set()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.hung_up = False
        self._on_hang_up: Callable[[], None] = self.takes.set

    def ask(self, app: AnswersInTurn, path: str, *, method: str = "GET") -> "asyncio.Task[None]":
        request = scope(path, method=method) | {HANG_UP_KEY: self._hang_up}
        return asyncio.ensure_future(app(request, self._receive, self._send))

    def cannot_hang_up(self) -> None:
        self._on_hang_up = lambda: None

    def _hang_up(self) -> None:
        self.hung_up = True
        self._on_hang_up()

    async def _receive(self) -> Message:
        return {"type": "http.request"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {key.decode(): value.decode() for key, value in message["headers"]}
        else:
            self.body = message["body"]
            await self.takes.wait()


async def turns_of_loop() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("path", "most"), [(PAGE, PAGES_AT_ONCE), (LOG_IN, LOG_INS_AT_ONCE), (AGENTS, 20)]
)
def test_pages_are_made_a_few_at_a_time_and_programs_wait_for_none(path, most):
    async def scenario() -> Made:
        made = Made()
        app = AnswersInTurn(made)
        asking = [Client().ask(app, path) for _ in range(20)]
        await turns_of_loop()
        made.may.set()
        await asyncio.gather(*asking)
        return made

    made = run_at_once(scenario())
    assert (made.most, made.all) == (most, 20)


def test_log_ins_keep_no_page_waiting():
    async def scenario() -> None:
        made = Made()
        app = AnswersInTurn(made)
        asking = [Client().ask(app, LOG_IN) for _ in range(20)]
        await turns_of_loop()
        asking.append(Client().ask(app, PAGE))
        await turns_of_loop()
        assert made.now == LOG_INS_AT_ONCE + 1
        made.may.set()
        await asyncio.gather(*asking)

    run_at_once(scenario())


def test_who_waits_for_too_long_and_who_comes_behind_too_many_hears_when_to_come_again(monkeypatch):
    monkeypatch.setattr(answers_in_turn, "MOST_WAITING_PAGES", 2)

    async def scenario() -> tuple[list[int], Made]:
        made = Made()
        app = AnswersInTurn(made)
        clients = [Client() for _ in range(PAGES_AT_ONCE + 3)]
        asking = [client.ask(app, PAGE) for client in clients]
        await turns_of_loop()
        assert [client.status for client in clients[-3:]] == [0, 0, 503]
        await asyncio.gather(*asking[-2:])  # for as long as they wait
        made.may.set()
        await asyncio.gather(*asking)
        await Client().ask(app, PAGE)
        return [client.status for client in clients], made

    statuses, made = run_at_once(scenario())
    assert statuses == [200] * PAGES_AT_ONCE + [503] * 3
    assert made.all == PAGES_AT_ONCE + 1


async def full(app: AnswersInTurn, made: Made) -> list[Client]:
    """Clients that take nothing of what fills the room."""
    made.length, made.may = ROOM_BYTES // 3, asyncio.Event()
    made.may.set()
    stalling = [Client(takes=False) for _ in range(3)]
    for client in stalling:
        client.ask(app, PAGE)
    await turns_of_loop()
    assert [client.status for client in stalling] == [200] * 3
    return stalling


def test_who_takes_nothing_is_put_off_when_another_waits():
    async def scenario() -> None:
        made = Made()
        app = AnswersInTurn(made)
        stalling, client = await full(app, made), Client()
        asking = client.ask(app, AGENTS)
        await turns_of_loop()
        assert (client.status, [one.hung_up for one in stalling]) == (0, [False] * 3)
        await asking
        assert (client.status, [one.hung_up for one in stalling]) == (200, [True] * 3)
        assert app.room.taken == 0

    run_at_once(scenario())


def test_so_many_answers_wait_to_be_taken_and_the_next_is_refused_at_once():
    async def scenario() -> list[int]:
        made = Made()
        app = AnswersInTurn(made)
        await full(app, made)
        clients = [Client() for _ in range(33)]
        asking = [client.ask(app, AGENTS) for client in clients]
        await turns_of_loop()
        statuses = [client.status for client in clients]
        await asyncio.gather(*asking)
        return statuses

    assert run_at_once(scenario()) == [0] * 32 + [503]


def test_where_a_server_cannot_be_told_to_hang_up_an_answer_is_refused_in_words():
    async def scenario() -> Client:
        made = Made()
        app = AnswersInTurn(made)
        stalling, client = await full(app, made), Client()
        for one in stalling:
            one.cannot_hang_up()
        await client.ask(app, AGENTS)
        for one in stalling:
            one.takes.set()
        return client

    client = run_at_once(scenario())
    assert (client.status, client.headers["retry-after"]) == (503, "5")
    assert json.loads(client.body) == {
        "detail": "The server is receiving or sending too much at once. Try again in a few seconds.",
        "code": "busy",
    }


def test_short_answers_have_room_beside_long_ones():
    async def scenario() -> None:
        made = Made()
        app = AnswersInTurn(made)
        stalling = await full(app, made)
        made.length = 1000
        await Client().ask(app, PAGE)
        for one in stalling:
            one.takes.set()

    run_at_once(scenario())


def test_a_page_keeps_its_turn_until_there_is_room_for_it():
    """Pages that are made and wait would be as many as there are clients."""

    async def scenario() -> None:
        made = Made()
        app = AnswersInTurn(made)
        stalling = await full(app, made)
        asking = [Client().ask(app, PAGE) for _ in range(PAGES_AT_ONCE + 2)]
        await turns_of_loop()
        assert made.all == 3 + PAGES_AT_ONCE
        for one in stalling:
            one.takes.set()
        await asyncio.gather(*asking)

    run_at_once(scenario())


def test_an_answer_larger_than_the_room_is_sent_all_the_same():
    async def scenario() -> None:
        made, client = Made(length=ROOM_BYTES + 1), Client()
        made.may.set()
        await client.ask(AnswersInTurn(made), PAGE)
        assert client.status == 200

    run_at_once(scenario())


def test_a_stream_which_tells_no_length_waits_for_no_room():
    async def stream(request: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x"})

    assert call(AnswersInTurn(stream), scope(PAGE)).body == b"x"
