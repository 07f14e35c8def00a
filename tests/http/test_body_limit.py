"""Limits of request bodies: 413, 408, and large bodies at once."""

import asyncio
import json
from typing import Any

import pytest

from copilot_admin.http.body_limit import (
    LARGE_BODY_BYTES,
    MAX_INLINE_BYTES,
    MAX_LARGE_BODIES,
    BodyLimit,
    parse_body,
)
from copilot_admin.telemetry import finished_runs
from tests.http.asgi_client import Answer, call, echo, scope

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


@pytest.mark.parametrize(
    ("encoding", "status"),
    [("gzip", 415), ("br, identity", 415), ("utf-8", 200), ("identity", 200)],
)
def test_a_compressed_body_is_rejected_with_415(encoding, status):
    answer = post(b"x", Content_Encoding=encoding)
    assert answer.status == status
    assert status == 200 or json.loads(answer.body)["code"] == "compressed-body"


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
    """Few bodies above 1 MB are read at once."""

    BODY = b"x" * (LARGE_BODY_BYTES + 1)

    def post_while(self, held: int, **options: Any) -> Answer:
        limit = BodyLimit(echo, max_bytes=2 * LARGE_BODY_BYTES, **options)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            for _ in range(held):
                await limit._large_bodies.acquire()
            await limit(scope, receive, send)
            assert limit._large_bodies._value == MAX_LARGE_BODIES - held

        return call(app, scope(QUERY, method="POST"), body=[self.BODY, b"y"])

    def test_one_is_read_while_there_is_a_free_slot_which_it_returns(self):
        assert self.post_while(MAX_LARGE_BODIES - 1).body == self.BODY + b"y"

    def test_one_that_waits_too_long_is_rejected_with_503(self):
        answer = self.post_while(MAX_LARGE_BODIES, timeout_seconds=-20.0)
        assert (answer.status, json.loads(answer.body)["code"]) == (503, "busy")
        assert answer.header("retry-after") == "5"


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
