"""Streams of components: what a caller who leaves stops, and what a stream holds while it runs."""

import asyncio
from collections.abc import Callable
import json
from typing import Any

import pytest

from copilot_admin.asgi import application
from copilot_admin.component_calls.call import CALLS
from copilot_admin.models import CallStatus
from copilot_admin.server.lifecycle import drain
from protocol.components import create_output
from tests.component_calls.component_http import Stage, rows, served
from tests.factories import make_key
from tests.http.asgi_client import scope
from tests.polling import HANGS_SECONDS

__all__ = ["served"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("served")]

PIECE = create_output("text", "piece")
WAIT = "wait"


class Caller:
    """A client that can leave whenever the test wants it to."""

    def __init__(self, body: Any, key: str) -> None:
        self.has_left = asyncio.Event()
        self.arrived = asyncio.Event()
        self.messages: list[Any] = []
        self._waiting = [{"type": "http.request", "body": json.dumps(body).encode()}]
        headers = {"Host": "testserver", "Authorization": f"Bearer {key}"}
        path = "/v2/components/stage"
        self.request = scope(path, method="POST", headers=headers, query_string=b"")

    async def call(self) -> None:
        await application(self.request, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if self._waiting:
            return self._waiting.pop()
        await self.has_left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.messages.append(message)
        if message.get("body"):
            self.arrived.set()

    @property
    def text(self) -> str:
        return b"".join(message.get("body", b"") for message in self.messages).decode()


async def until(condition: Callable[[], bool]) -> None:
    """Lets the loop turn until something is so."""
    async with asyncio.timeout(HANGS_SECONDS):
        while True:
            if condition():
                return
            await asyncio.sleep(0.001)  # other threads have their part in it


def test_a_caller_who_leaves_in_the_middle_stops_the_component_at_once():
    Stage.script = (PIECE, WAIT)

    async def leave() -> None:
        caller = Caller({"stream": True}, key)
        answering = asyncio.create_task(caller.call())
        await caller.arrived.wait()
        caller.has_left.set()
        await answering
        await until(lambda: Stage.was_closed and not CALLS)

    _, key = make_key()
    asyncio.run(leave())
    (call,) = rows()
    assert (call.status, call.events, call.error) == (CallStatus.CANCELLED, 1, "")


@pytest.mark.parametrize("stream", [False, True])
def test_a_caller_who_leaves_before_the_first_byte_stops_it_too(stream):
    Stage.script = (WAIT,)

    async def leave() -> None:
        caller = Caller({"stream": stream}, key)
        answering = asyncio.create_task(caller.call())
        await until(lambda: bool(CALLS) and bool(Stage.seen))
        caller.has_left.set()
        await answering
        await until(lambda: Stage.was_closed and not CALLS)
        assert caller.messages == []

    _, key = make_key()
    asyncio.run(leave())
    (call,) = rows()
    assert (call.status, call.events) == (CallStatus.CANCELLED, 0)


def test_a_call_that_runs_at_a_shutdown_ends_with_a_sentence():
    Stage.script = (PIECE, WAIT)

    async def go_down() -> str:
        caller = Caller({"stream": True}, key)
        answering = asyncio.create_task(caller.call())
        await caller.arrived.wait()
        await drain(0.05, asyncio.Event())
        await answering
        return caller.text

    _, key = make_key()
    *_, last, _end = asyncio.run(go_down()).split("\n\n")
    said = json.loads(last.removeprefix("data: "))
    assert (said["status"], said["code"]) == ("error", "draining")
    assert said["message"] == "The server is restarting. Call again in a few seconds."
    assert [call.status for call in rows()] == [CallStatus.CANCELLED]
