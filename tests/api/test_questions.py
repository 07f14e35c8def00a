"""Questions that pass Django by are answered as Django would, and end when their client leaves."""

import asyncio
import json
from typing import Any

from asgiref.sync import SyncToAsync
import pytest

from copilot_admin.api import query as query_module
from copilot_admin.api.query import Questions
from copilot_admin.asgi import django_application
from copilot_admin.http.middleware import HttpMiddleware
from copilot_admin.http.scope import App
from copilot_admin.models import Outcome, Run
from copilot_admin.runs.run import RUNNING
from tests.agent.scripted import ScriptedProvider, Step, stalled, text
from tests.factories import make_published
from tests.http.asgi_client import scope
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)

QUERY = "/v1/copilots/news/query"
HELLO = json.dumps({"messages": [{"role": "human", "content": "Hello"}]}).encode()
HOST = {"Host": "testserver"}
BY_DJANGO: App = HttpMiddleware(django_application)  # type: ignore[arg-type]  # Django's types are wider
DIRECT: App = HttpMiddleware(Questions(django_application))  # type: ignore[arg-type]


class Client:
    """Asks once, and can leave whenever the test wants it to."""

    def __init__(self, app: App, path: str = QUERY, *, body: bytes = HELLO, **about: Any) -> None:
        self.app = app
        self.request = scope(path, **{"method": "POST", "headers": HOST, **about})
        self.has_left, self.arrived = asyncio.Event(), asyncio.Event()
        self.messages: list[Any] = []
        self._waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def ask(self) -> "Client":
        async with asyncio.timeout(HANGS_SECONDS):
            await self.app(self.request, self._receive, self._send)
        return self

    async def _receive(self) -> dict[str, Any]:
        if not self._waiting:
            await self.has_left.wait()
            return {"type": "http.disconnect"}
        return self._waiting.pop()

    async def _send(self, message: Any) -> None:
        self.messages.append(message)
        if message.get("body"):
            self.arrived.set()

    @property
    def answer(self) -> tuple[int, dict[str, str], bytes]:
        """Status, headers without the ids of the request, and body."""
        start, *others = self.messages
        rows = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        assert len(rows) == len(start["headers"])
        headers = {name: value for name, value in rows.items() if not name.startswith("x-trace")}
        headers.pop("x-completion-id")
        assert [one.get("more_body", False) for one in others][-1] is False
        return start["status"], headers, b"".join(one.get("body", b"") for one in others)


def ask(app: App, path: str = QUERY, **about: Any) -> tuple[int, dict[str, str], bytes]:
    async def asked() -> Client:
        return await Client(app, path, **about).ask()

    return asyncio.run(asked()).answer


def script(monkeypatch: pytest.MonkeyPatch, *steps: Step) -> None:
    provider = ScriptedProvider(steps)
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)


@pytest.mark.database
def test_an_answer_is_the_one_that_django_gives_and_enters_no_thread_of_it(monkeypatch):
    make_published(slug="news")
    script(monkeypatch, text("Hel", "lo."), text("Hel", "lo."))
    by_django = ask(BY_DJANGO)
    monkeypatch.setattr(SyncToAsync, "__call__", None)  # whoever calls it breaks
    assert ask(DIRECT) == by_django
    assert by_django[0] == 200
    assert [run.outcome for run in Run.objects.all()] == [Outcome.COMPLETED] * 2


@pytest.mark.parametrize(
    ("about", "status"),
    [
        ({"path": "/v1/copilots/nobody/query"}, 404),
        ({"path": "/v1/copilots//query"}, 404),
        ({"path": "/v1/copilots/a/b/query"}, 404),
        ({"method": "GET"}, 405),
        ({"body": b"{"}, 400),
        ({"body": b"{}"}, 422),
        ({"headers": {}}, 400),
        ({"headers": {"Host": "evil.example"}}, 400),
        ({"headers": {**HOST, "X-API-Key": ""}}, 401),
        ({"headers": {**HOST, "X-API-Key": "wrong"}}, 401),
        ({"headers": {**HOST, "Authorization": "Bearer wrong"}}, 401),
        ({"query_string": b"generation=2", "body": b"{"}, 400),
        ({"root_path": "/elsewhere", "body": b"{"}, 400),
    ],
)
def test_a_refusal_is_the_one_that_django_gives(about, status):
    make_published(slug="news")
    refused = ask(DIRECT, **about)
    assert refused == ask(BY_DJANGO, **about)
    assert refused[0] == status


def test_what_breaks_before_the_first_byte_is_said_and_logged_by_django(monkeypatch, caplog):
    def broken(*args: object, **more: object) -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(query_module, "parse_query", broken)
    make_published(slug="news")
    status, _, body = ask(DIRECT)
    assert (status, b"a mistake of ours" in body) == (500, False)
    assert [str(one.exc_info[1]) for one in caplog.records if one.exc_info] == ["a mistake of ours"]


@pytest.mark.database
def test_a_client_that_leaves_in_the_middle_ends_its_run(monkeypatch):
    make_published(slug="news")
    script(monkeypatch, stalled("Half"))

    async def leave() -> None:
        client = Client(DIRECT)
        asking = asyncio.create_task(client.ask())
        await client.arrived.wait()
        client.has_left.set()
        await asking
        await asyncio.wait({run.task for run in RUNNING})

    asyncio.run(leave())
    assert Run.objects.get().outcome == Outcome.CANCELLED


def test_a_client_that_left_before_it_was_let_in_is_not_answered(monkeypatch):
    make_published(slug="news")

    async def leave() -> list[Any]:
        client = Client(DIRECT)
        client.has_left.set()
        return (await client.ask()).messages

    assert asyncio.run(leave()) == []
    assert not Run.objects.filter(outcome=Outcome.COMPLETED).exists()


def test_a_server_that_gives_up_on_a_connection_is_not_kept_from_it(monkeypatch):
    make_published(slug="news")
    script(monkeypatch, stalled("Half"))

    async def give_up() -> None:
        client = Client(DIRECT)
        asking = asyncio.create_task(client.ask())
        await client.arrived.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await asyncio.wait({run.task for run in RUNNING})

    asyncio.run(give_up())
    assert Run.objects.get().outcome == Outcome.CANCELLED
