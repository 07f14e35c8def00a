"""Calls components over HTTP, through the whole application, without a server."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
import json
from typing import Any

import pytest

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import DOCUMENTS, MODEL
from copilot_admin.agent.components.registry import Registry
from copilot_admin.asgi import application
from copilot_admin.component_calls import access
from copilot_admin.copilots.checklist import content_checks
from copilot_admin.models import ComponentCall
from copilot_admin.storage.writer import WRITER
from protocol.components import ComponentOutput, create_output
from tests.agent.components.sample_components import Asker, Echo, EchoTwo
from tests.http.asgi_client import scope

UUID = r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
MOMENT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00"


class Stage(Component):
    """Plays what a test has put on it: outputs, errors, an event to wait for."""

    name = "stage"
    samples = ({},)
    uses = (DOCUMENTS,)
    script: tuple[Any, ...] = ()
    seen: dict[str, Any] = {}
    was_closed = False

    async def tool_eval(
        self, size: int = 1, **kwargs: Any
    ) -> AsyncGenerator[ComponentOutput, None]:
        """Plays what was prepared.

        Args:
            size: How large.
        """
        Stage.seen = {**kwargs, "config": dict(self.config)}
        try:
            for one in Stage.script:
                if isinstance(one, BaseException):
                    raise one
                if isinstance(one, ComponentOutput):
                    yield one
                else:
                    await asyncio.Event().wait()
        finally:
            Stage.was_closed = True


class Needy(Asker):
    """Asks the copilot's model, and says that it needs one."""

    name = "needy"
    uses = (MODEL,)
    tool_eval = Asker.tool_eval


class Pair(Component):
    """Takes two texts."""

    name = "pair"
    samples = ({"first": "a", "second": "b"},)

    async def tool_eval(
        self, first: str, second: str, **kwargs: Any
    ) -> AsyncGenerator[ComponentOutput, None]:
        """Puts two texts together.

        Args:
            first: A text.
            second: Another one.
        """
        yield create_output("text", f"{first} {second}")


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Components of tests, and no others."""
    registry = Registry((Echo, EchoTwo, Asker, Needy, Stage, Pair))
    assert registry.faults == []
    for module in (access, content_checks):
        monkeypatch.setattr(module, "registry", lambda: registry)
    monkeypatch.setattr(Stage, "script", ())
    monkeypatch.setattr(Stage, "seen", {})
    monkeypatch.setattr(Stage, "was_closed", False)
    return registry


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def events(self) -> list[Any]:
        """The objects of a stream."""
        *frames, rest = self.body.split(b"\n\n")
        assert rest == b""
        assert all(frame.startswith(b"data: ") for frame in frames)
        return [json.loads(frame[6:]) for frame in frames]

    @property
    def words(self) -> str:
        """The text of all elements."""
        answers = self.events if "event-stream" in self.headers["content-type"] else [self.json]
        return "".join(one["text"]["info"] for answer in answers for one in answer["content"])


def ask(path: str, body: Any = None, *, key: str = "", method: str = "", **headers: str) -> Reply:
    """Sends one request to `/v2/components…`; a body makes it a POST."""
    path, _, query = path.partition("?")
    given = {"Host": "testserver", "Content-Type": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    if key:
        given["Authorization"] = f"Bearer {key}"
    sent = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = scope(
        f"/v2/components{path}",
        method=method or ("GET" if body is None else "POST"),
        headers=given,
        query_string=query.encode(),
    )
    reply = asyncio.run(_reply(request, b"" if body is None else sent))
    settle()
    return reply


async def _reply(request: dict[str, Any], body: bytes) -> Reply:
    """The answer to a client that waits for the whole of it."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return waiting.pop() if waiting else await asyncio.Future()

    async def send(message: Any) -> None:
        sent.append(message)

    await application(request, receive, send)
    start, *parts = sent
    names = [key.decode().lower() for key, _ in start["headers"]]
    assert len(names) == len(set(names))
    return Reply(
        start["status"],
        {key.decode().lower(): value.decode() for key, value in start["headers"]},
        b"".join(part.get("body", b"") for part in parts),
    )


def settle() -> None:
    """Waits for the records: they are written beside the answer, also when a test is over."""
    WRITER.submit(lambda: None).result()


def rows() -> list[ComponentCall]:
    """The records of all calls, oldest first, when everything is written."""
    settle()
    return list(ComponentCall.objects.order_by("id"))
