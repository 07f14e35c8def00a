"""Bodies before Django: whole, within their limits, or refused in words."""

import asyncio
import json
from typing import Any

import pytest

from copilot_admin.edge import bodies
from copilot_admin.edge.bodies import BodyLimits
from tests.edge.asgi_client import call, scope
from tests.edge.test_edge import QUERY, echo

LIMITED = BodyLimits(echo, max_bytes=10)


def test_a_body_within_the_limit_arrives_whole():
    answer = call(LIMITED, scope(QUERY, method="POST"), body=[b"12345", b"67890"])
    assert (answer.status, answer.body) == (200, b"1234567890")


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
@pytest.mark.parametrize("headers", [{}, {"Accept": "*/*", "Content-Length": "0"}])
def test_requests_without_a_body_are_not_read(method, headers):
    async def unread(scope, receive, send):
        assert receive is given

    async def given():
        raise AssertionError

    asyncio.run(
        BodyLimits(unread, max_bytes=10)(
            scope("/agents.json", method=method, headers=headers), given, given
        )
    )


@pytest.mark.parametrize("path", [QUERY, "/agents.json", "/admin/", "/static/admin/css/base.css"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "PROPFIND", "DELETE", "ODD"])
@pytest.mark.parametrize(
    ("more", "body"),
    [
        ({"headers": {"Content-Length": "11"}}, []),
        ({"headers": {"Transfer-Encoding": "chunked"}}, [b"12345", b"678901"]),
        ({"headers": {"Content-Length": "3"}}, [b"12345", b"678901"]),
        ({"http_version": "2"}, [b"12345", b"678901"]),
    ],
    ids=["declared", "streamed", "declared too small", "HTTP/2"],
)
def test_the_limit_holds_for_every_method_and_path(path, method, more, body):
    answer = call(LIMITED, scope(path, method=method, **more), body=body)
    assert (answer.status, json.loads(answer.body)["code"]) == (413, "body-too-large")
    assert LIMITED.in_flight == 0


def test_a_small_body_of_a_get_arrives_whole():
    request = scope("/agents.json", headers={"Content-Length": "3"})
    assert call(LIMITED, request, body=[b"123"]).body == b"123"


@pytest.mark.parametrize(
    ("headers", "body"),
    [({"Content-Length": "11"}, []), ({}, [b"12345", b"678901"])],
    ids=["declared", "streamed"],
)
def test_a_longer_body_is_refused_in_words(headers, body):
    answer = call(LIMITED, scope(QUERY, method="POST", headers=headers), body=body)
    assert answer.status == 413
    assert json.loads(answer.body) == {
        "code": "body-too-large",
        "detail": (
            "The request body is larger than the 9.53674e-06 MB this server accepts. "
            "Send less data, or ask the operator to raise COPILOT_MAX_BODY_MB."
        ),
    }
    assert answer.header("connection") == "close"
    assert LIMITED.in_flight == 0


@pytest.mark.parametrize(
    ("linger", "left"), [(100, 0), (11, 2)], ids=["all of it", "within reason"]
)
def test_the_rest_of_a_refused_body_is_taken_and_thrown_away(linger, left, monkeypatch):
    monkeypatch.setattr(bodies, "LINGERING_BYTES", linger)
    parts = [b"x" * 6] * 4

    async def scenario() -> list[Any]:
        sent: list[Any] = []

        async def receive() -> Any:
            assert sent, "the answer does not wait for the body"
            return {"type": "http.request", "body": parts.pop(), "more_body": bool(parts)}

        async def send(message: Any) -> None:
            sent.append(message)

        request = scope(QUERY, method="POST", headers={"Content-Length": "24"})
        await LIMITED(request, receive, send)
        return sent

    _, words, end = asyncio.run(scenario())
    assert json.loads(words["body"])["code"] == "body-too-large"
    assert (words["more_body"], end.get("more_body", False), len(parts)) == (True, False, left)


def test_a_refused_body_that_has_ended_is_not_waited_for():
    pieces = [b"678901", b"12345"]
    sent: list[Any] = []

    async def receive() -> Any:
        assert pieces, "after its end a server says nothing until the client leaves"
        return {"type": "http.request", "body": pieces.pop(), "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(LIMITED(scope(QUERY, method="POST"), receive, send))
    assert (sent[0]["status"], sent[-1]) == (413, {"type": "http.response.body", "body": b""})


def test_a_refused_sender_that_never_ends_is_given_up():
    app = BodyLimits(echo, max_bytes=10, patience=0.0)
    sent: list[Any] = []

    async def scenario() -> None:
        async def receive() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        await app(scope(QUERY, method="POST", headers={"Content-Length": "11"}), receive, send)

    asyncio.run(scenario())
    assert (sent[0]["status"], sent[-1]["body"]) == (413, b"")


def test_the_answer_has_left_before_a_refused_body_is_recorded():
    sent: list[Any] = []
    seen: list[list[str]] = []

    async def record(request: Any, error: Any) -> None:
        seen.append([message["type"] for message in sent])

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    app = BodyLimits(echo, max_bytes=10, on_refusal=record)
    asyncio.run(app(scope(QUERY, method="POST", headers={"Content-Length": "11"}), receive, send))
    assert seen == [["http.response.start", "http.response.body"]]


def test_a_length_that_is_no_number_is_refused():
    answer = call(LIMITED, scope(QUERY, method="POST", headers={"Content-Length": "many"}))
    assert (answer.status, json.loads(answer.body)["code"]) == (400, "malformed-body")


def test_a_client_that_leaves_while_sending_gets_no_answer():
    answer = call(LIMITED, scope(QUERY, method="POST"), body=[])
    assert (answer.status, LIMITED.in_flight) == (0, 0)


def test_a_body_that_takes_too_long_is_given_up():
    app = BodyLimits(echo, max_bytes=10, patience=0.0)

    async def scenario() -> list[Any]:
        sent: list[Any] = []

        async def receive() -> Any:
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        await app(scope(QUERY, method="POST"), receive, send)
        return sent

    start, body = asyncio.run(scenario())
    assert start["status"] == 408
    assert json.loads(body["body"])["code"] == "body-timeout"


def test_more_bodies_than_the_process_can_hold_are_put_off(monkeypatch):
    monkeypatch.setattr(bodies, "MAX_BYTES_IN_FLIGHT", 3)
    answer = call(LIMITED, scope(QUERY, method="POST"), body=[b"1234"])
    assert (answer.status, json.loads(answer.body)["code"]) == (503, "busy")


def test_after_the_body_the_server_speaks_again():
    heard: list[str] = []

    async def listen(request: Any, receive: Any, send: Any) -> None:
        heard.extend([(await receive())["type"], (await receive())["type"]])

    call(BodyLimits(listen, max_bytes=10), scope(QUERY, method="POST"), body=[b"x"])
    assert heard == ["http.request", "http.disconnect"]
