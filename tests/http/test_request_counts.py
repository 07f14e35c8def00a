"""Requests are counted under names that no stranger chooses."""

import asyncio
from typing import Any

import pytest

from copilot_admin.http import request_counts
from copilot_admin.http.request_counts import RequestCounts
from copilot_admin.http.route_names import method_name, route_name
from tests.http.asgi_client import call, scope


class Counted:
    """What was counted."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, str]] = []
        self.begun: list[tuple[str, float]] = []

    def count_request(self, method: str, path: str, status: str) -> None:
        self.requests.append((method, path, status))

    def time_begin(self, path: str, seconds: float) -> None:
        self.begun.append((path, seconds))


async def teapot(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b"short and stout"})


async def broken(scope: Any, receive: Any, send: Any) -> None:
    raise ValueError("broken")


def test_an_answer_is_counted_with_its_status_and_when_it_began(monkeypatch):
    clock = iter([1000.0, 1000.25])
    monkeypatch.setattr(request_counts, "monotonic", lambda: next(clock))
    counted = Counted()
    answer = call(RequestCounts(teapot, counted), scope("/v1/copilots/news/query", method="POST"))
    assert (answer.status, answer.body) == (418, b"short and stout")
    assert counted.requests == [("POST", "/v1/copilots/{slug}/query", "418")]
    assert counted.begun == [("/v1/copilots/{slug}/query", 0.25)]


def test_what_gave_no_answer_is_counted_without():
    counted = Counted()
    with pytest.raises(ValueError, match="broken"):
        call(RequestCounts(broken, counted), scope("/healthz"))
    assert (counted.requests, counted.begun) == ([("GET", "/healthz", "none")], [])


def test_sockets_of_pages_are_no_requests():
    counted, seen = Counted(), []

    async def noted(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["type"])

    asyncio.run(RequestCounts(noted, counted)({"type": "websocket"}, None, None))  # type: ignore[arg-type]
    assert (seen, counted.requests) == (["websocket"], [])


@pytest.mark.parametrize(
    ("path", "name"),
    [
        *(
            (path, path)
            for path in (
                "/",
                "/agents.json",
                "/copilots.json",
                "/docs",
                "/healthz",
                "/metrics",
                "/openapi.json",
                "/readyz",
            )
        ),
        ("/v1/copilots/any-thing/query", "/v1/copilots/{slug}/query"),
        ("/v1/copilots/any-thing/feedback", "/v1/copilots/{slug}/feedback"),
        ("/v1/copilots/any-thing/image", "/v1/copilots/{slug}/image"),
        ("/v1/copilots/a/b/query", "other"),
        ("/v1/copilots/any-thing/query\n", "other"),
        ("/v2/components/calculator", "/v2/"),
        ("/admin/", "/admin/"),
        ("/admin/login/", "/admin/"),
        ("/static/x.js", "/static/"),
        ("/wp-login.php", "other"),
        ("", "other"),
    ],
)
def test_a_path_has_one_of_few_names(path, name):
    assert route_name(path) == name


@pytest.mark.parametrize(
    ("method", "name"),
    [
        *((one, one) for one in ("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT")),
        ("BREW", "other"),
        ("get", "other"),
    ],
)
def test_a_method_has_one_of_few_names(method, name):
    assert method_name(method) == name
