"""Limits of request bodies: 413, 408, and large bodies at once."""

import asyncio
import json
from typing import Any

import pytest

from copilot_admin.http import body_limit
from copilot_admin.http.body_limit import (
    LARGE_BODY_BYTES,
    MAX_INLINE_BYTES,
    MAX_LARGE_BODIES,
    BodyLimit,
    parse_body,
)
from copilot_admin.telemetry import finished_runs
from tests.http.asgi_client import Answer, call, echo, scope
from tests.polling import HANGS_SECONDS, comes_true

QUERY = "/v1/copilots/news/query"


async def untouched(scope: Any, receive: Any, send: Any) -> None:
    """Answer without reading the body."""
    await send({"type": "http.response.start", "status": 204, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def post(*body: bytes, app: Any = echo, method: str = "POST", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = scope(QUERY, method=method, headers=named)
    return call(BodyLimit(app, max_bytes=100), request, body=body)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ([b"x" * 100], {}),
        ([b"x" * 60, b"x" * 40], {}),
        ([b"x" * 100], {"Content_Length": "100"}),
        ([b""], {"Content_Length": "0"}),
    ],
)
def test_a_body_within_the_limit_arrives_as_one_message(body, headers):
    assert post(*body, **headers).body == b"".join(body)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        ([b"x" * 101], {}),
        ([b"x" * 60, b"x" * 41], {}),
        ([b"x" * 60, b"x" * 41, b"x" * 1000], {}),
        ([b""], {"Content_Length": "101"}),
        ([b"x" * 101], {"Content_Length": "10"}),
    ],
)
def test_a_larger_body_is_rejected_with_413(monkeypatch, body, headers):
    noted: list[Any] = []
    monkeypatch.setattr(finished_runs, "REJECTION_LISTENERS", [noted.append])
    answer = post(*body, **headers)
    assert (answer.status, json.loads(answer.body)["code"]) == (413, "body-too-large")
    assert answer.is_whole
    assert [one.status for one in noted] == [413]


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_methods_without_a_body_wait_for_none(method):
    assert post(method=method, app=untouched).status == 204
    assert post(method=method, Content_Length="0", app=untouched).status == 204


def test_a_client_that_leaves_while_it_sends_gets_no_answer():
    request = scope(QUERY, method="POST")

    async def receive() -> Any:
        return next(messages)

    messages = iter(
        [{"type": "http.request", "body": b"x", "more_body": True}, {"type": "http.disconnect"}]
    )
    asyncio.run(BodyLimit(echo, max_bytes=100)(request, receive, None))  # type: ignore[arg-type]


def test_a_body_that_does_not_arrive_in_time_is_rejected_with_408():
    sent: list[Any] = []

    async def receive() -> Any:
        await asyncio.Future()

    async def send(message: Any) -> None:
        sent.append(message)

    limit = BodyLimit(echo, max_bytes=100, timeout_seconds=0.0)
    asyncio.run(limit(scope(QUERY, method="POST"), receive, send))
    assert (sent[0]["status"], json.loads(sent[1]["body"])["code"]) == (408, "body-timeout")
    assert (b"connection", b"close") in sent[0]["headers"]


class TestLargeBodies:
    """Few bodies above 1 MB are read and parsed at once."""

    BODY = b"x" * (LARGE_BODY_BYTES + 1)

    async def start(self, limit: BodyLimit, sent: list[Any], **headers: str) -> None:
        async def receive() -> Any:
            return {"type": "http.request", "body": self.BODY, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        named = {name.replace("_", "-"): value for name, value in headers.items()}
        async with asyncio.timeout(HANGS_SECONDS):
            await limit(scope(QUERY, method="POST", headers=named), receive, send)

    def test_one_more_waits_until_a_response_starts(self):
        async def scenario() -> None:
            started, go_on = 0, asyncio.Event()

            async def slow(scope: Any, receive: Any, send: Any) -> None:
                nonlocal started
                started += 1
                await receive()
                await go_on.wait()
                await send({"type": "http.response.start", "status": 200, "headers": []})
                await asyncio.Future()  # a long answer holds no slot

            limit = BodyLimit(slow, max_bytes=2 * LARGE_BODY_BYTES)
            length = {"Content_Length": str(len(self.BODY))}
            sent: list[Any] = []
            asking = [
                asyncio.create_task(self.start(limit, sent, **length))
                for _ in range(MAX_LARGE_BODIES + 1)
            ]
            await comes_true(lambda: started == MAX_LARGE_BODIES)
            go_on.set()
            await comes_true(lambda: len(sent) == MAX_LARGE_BODIES + 1)
            for one in asking:
                one.cancel()
            await asyncio.gather(*asking, return_exceptions=True)

        asyncio.run(scenario())

    def test_one_that_waits_too_long_is_rejected_with_503(self, monkeypatch):
        monkeypatch.setattr(body_limit, "LARGE_BODY_WAIT_SECONDS", 0.0)

        async def scenario() -> list[Any]:
            limit = BodyLimit(echo, max_bytes=2 * LARGE_BODY_BYTES)
            sent: list[Any] = []
            for _ in range(MAX_LARGE_BODIES):
                await limit._large_bodies.acquire()
            await self.start(limit, sent, Content_Length=str(len(self.BODY)))
            return sent

        start, body = asyncio.run(scenario())
        assert (start["status"], json.loads(body["body"])["code"]) == (503, "busy")
        assert b"retry-after" in dict(start["headers"])

    @pytest.mark.parametrize("app", [echo, untouched])
    def test_slots_are_released_however_a_request_ends(self, app):
        async def scenario() -> None:
            limit = BodyLimit(app, max_bytes=2 * LARGE_BODY_BYTES)
            for _ in range(MAX_LARGE_BODIES + 1):
                await self.start(limit, [])
            await self.start(BodyLimit(app, max_bytes=LARGE_BODY_BYTES), [])
            assert not limit._large_bodies.locked()

        asyncio.run(scenario())


@pytest.mark.parametrize(
    ("size", "in_thread"), [(MAX_INLINE_BYTES, False), (MAX_INLINE_BYTES + 1, True)]
)
def test_large_bodies_are_parsed_in_a_thread(size, in_thread):
    def is_in_loop() -> bool:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return False
        return True

    assert asyncio.run(parse_body(is_in_loop, size=size)) is not in_thread
