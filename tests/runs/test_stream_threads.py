"""A stream holds no thread: nothing of a query goes to one of Django's before the answer ends."""

import asyncio
import json
from typing import Any

from asgiref.sync import SyncToAsync
import pytest

from copilot_admin.asgi import application
from tests.factories import make_published

pytestmark = pytest.mark.database


@pytest.mark.django_db(transaction=True)
def test_a_query_enters_no_thread_of_django_before_its_last_byte(monkeypatch):
    slug = make_published().slug
    happened: list[str] = []
    call = SyncToAsync.__call__

    async def watched(self: Any, *args: Any, **kwargs: Any) -> Any:
        happened.append("thread")
        return await call(self, *args, **kwargs)

    monkeypatch.setattr(SyncToAsync, "__call__", watched)
    asyncio.run(_ask(slug, happened))

    assert happened[0] == "http.response.start"
    assert "thread" not in happened[: happened.index("end")]


async def _ask(slug: str, happened: list[str]) -> None:
    body = json.dumps({"messages": [{"role": "human", "content": "hello"}]}).encode()
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return waiting.pop() if waiting else await asyncio.Future()

    async def send(message: Any) -> None:
        is_last = message["type"] == "http.response.body" and not message.get("more_body")
        happened.append("end" if is_last else message["type"])

    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/v1/copilots/{slug}/query",
        "query_string": b"",
        "headers": [(b"host", b"testserver"), (b"content-type", b"application/json")],
    }
    await application(scope, receive, send)
