"""Bodies before Django: whole, within their limits, or refused in words."""

import asyncio
import json
from typing import Any

import pytest

from copilot_admin.http import bodies, lingering, shared_room
from copilot_admin.http.asgi_types import Message
from copilot_admin.http.bodies import BodyLimits
from copilot_admin.http.body_room import BodyRoom
from tests.agent.virtual_time import run_at_once
from tests.http.asgi_client import call, scope
from tests.http.test_edge import QUERY, echo
from tests.http.test_form_bodies import ADMIN, LARGE, PROMPT, TYPE, form, pieces

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
    assert LIMITED.room.taken == 0


@pytest.mark.parametrize("path", [QUERY, "/v2/components/calculator", "/admin/"])
@pytest.mark.parametrize("method", ["POST", "GET", "ODD"])
@pytest.mark.parametrize(
    ("encoding", "named"),
    [
        *((name, name) for name in ("gzip", "deflate", "br", "zstd", "x-gzip", "compress")),
        *(("GZip", "gzip"), ("identity, gzip", "gzip"), ("br , identity", "br")),
    ],
)
def test_a_compressed_body_is_refused_before_any_of_it_comes(path, method, encoding, named):
    headers = {"Content-Length": "3", "Content-Encoding": encoding}

    async def unread(scope: Any, receive: Any, send: Any) -> None:
        raise AssertionError

    limited = BodyLimits(unread, max_bytes=10)
    answer = call(limited, scope(path, method=method, headers=headers), body=[b"\x1f\x8b\x08"])
    words = json.loads(answer.body)
    assert (answer.status, words["code"]) == (415, "compressed-body")
    assert words.get("detail", words.get("message")) == (
        f"The request body is compressed ({named}), which this server does not read. Send it plain, "
        "without Content-Encoding."
    )
    assert (answer.header("accept-encoding"), limited.room.taken) == ("identity", 0)


@pytest.mark.parametrize("encoding", ["", "identity", "utf-8", "UTF-8, identity"])
def test_a_body_that_is_said_to_be_plain_is_read(encoding):
    headers = {"Content-Length": "3", "Content-Encoding": encoding}
    answer = call(LIMITED, scope(QUERY, method="POST", headers=headers), body=[b"123"])
    assert (answer.status, answer.body) == (200, b"123")


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
    assert LIMITED.room.taken == 0


@pytest.mark.parametrize(
    ("linger", "left"),
    [(100, 0), (13, 1), (12, 2), (11, 2)],
    ids=["all of it", "within reason", "no more", "a bit more"],
)
def test_the_rest_of_a_refused_body_is_taken_and_thrown_away(linger, left, monkeypatch):
    monkeypatch.setattr(lingering, "LINGERING_BYTES", linger)
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


def told_to_who_never_ends(**headers: str) -> list[tuple[float, Any]]:
    """What a client is told that says it sends something and never does, and after how long."""
    sent: list[tuple[float, Any]] = []

    async def scenario() -> None:
        start = asyncio.get_running_loop().time()

        async def receive() -> Any:
            await asyncio.get_running_loop().create_future()

        async def send(message: Any) -> None:
            sent.append((asyncio.get_running_loop().time() - start, message))

        request = scope(QUERY, method="POST", headers=headers)
        await BodyLimits(echo, max_bytes=2_000_000)(request, receive, send)

    run_at_once(scenario())
    return sent


def test_a_refused_sender_that_never_ends_is_given_up_after_half_a_minute():
    sent = told_to_who_never_ends(**{"Content-Length": "2000001"})
    assert [seconds for seconds, _ in sent] == [0, 0, 30]
    assert (sent[0][1]["status"], sent[-1][1]["body"]) == (413, b"")


@pytest.mark.parametrize("more", [{"Content-Length": "2000001"}, {"Content-Encoding": "gzip"}])
def test_who_asks_before_he_sends_and_is_refused_holds_his_connection_no_longer(more):
    sent = told_to_who_never_ends(Expect="100-Continue", **more)
    assert [seconds for seconds, _ in sent] == [0, 0, lingering.ASKED_SECONDS]


def test_who_asked_and_sends_all_the_same_is_taken_to_the_end():
    parts = [b"x" * 6] * 4
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": parts.pop(), "more_body": bool(parts)}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = {"Content-Length": "24", "Expect": "100-continue"}
    asyncio.run(LIMITED(scope(QUERY, method="POST", headers=headers), receive, send))
    assert (parts, sent[-1]) == ([], {"type": "http.response.body", "body": b""})


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
    assert answer.header("connection") == "close"


def test_blanks_around_a_length_are_no_part_of_it():
    request = scope(QUERY, method="POST", headers={"Content-Length": " 5\t"})
    assert call(LIMITED, request, body=[b"12345"]).status == 200


def test_a_client_that_leaves_while_sending_gets_no_answer():
    answer = call(LIMITED, scope(QUERY, method="POST"), body=[])
    assert (answer.status, LIMITED.room.taken) == (0, 0)


def test_who_still_sends_when_the_server_ends_is_told_so():
    """It was a 500, and a traceback for each of them."""
    told: list[Message] = []

    async def send(message: Message) -> None:
        told.append(message)

    async def stopped() -> None:
        sending = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(LIMITED(scope(QUERY, method="POST"), lambda: sending, send))
        await asyncio.sleep(0)
        serving.cancel()
        await serving

    run_at_once(stopped())
    start, body = told
    assert (start["status"], json.loads(body["body"])["code"]) == (503, "unavailable")
    assert dict(start["headers"])[b"retry-after"] == b"5"
    assert LIMITED.room.taken == 0


@pytest.mark.parametrize(
    ("headers", "seconds"), [({}, 50), ({"Content-Length": "500000"}, 35)], ids=["any", "declared"]
)
def test_a_body_may_take_half_a_minute_and_a_second_for_every_100_kb(headers, seconds):
    (after, start), (_, body) = told_to_who_never_ends(**headers)
    assert (after, start["status"]) == (seconds, 408)
    assert json.loads(body["body"]) == {
        "code": "body-timeout",
        "detail": f"The request body did not arrive within {seconds} seconds. Send it again.",
    }


class TestWhatWasReceived:
    """It goes as early as may be: others want its room."""

    told: list[str]

    @pytest.fixture(autouse=True)
    def nothing_told(self) -> None:
        self.told = []

    def body(self, data: bytes) -> bytes:
        told = self.told

        class Body(bytes):
            """Bytes that tell when they are gone."""

            def __del__(self) -> None:
                told.append("gone")

        return Body(data)

    def test_with_who_reads_it(self, monkeypatch):
        async def app(_: Any, receive: Any, __: Any) -> None:
            await receive()
            self.told.append("read")

        monkeypatch.setattr(bodies.WholeBody, "whole", lambda body: self.body(b"1234"))
        call(BodyLimits(app, max_bytes=10), scope(QUERY, method="POST"), body=[b"1234"])
        assert self.told == ["gone", "read"]

    def test_before_a_refusal(self):
        async def receive() -> Any:
            return {"type": "http.request", "body": self.body(b"123456"), "more_body": True}

        async def send(message: Any) -> None:
            self.told.append(message["type"])
            raise ConnectionError

        async def scenario() -> None:
            with pytest.raises(ConnectionError):
                await LIMITED(scope(QUERY, method="POST"), receive, send)

        asyncio.run(scenario())
        assert self.told == ["gone", "gone", "http.response.start"]


def test_a_process_holds_two_of_the_largest_and_throws_a_quarter_of_a_gigabyte_away():
    assert BodyLimits(echo, max_bytes=2**30).room.most == 2 * 2**30
    assert lingering.LINGERING_BYTES == bodies.MOST_READ_BYTES == 256 * 1024 * 1024


def test_a_body_is_counted_until_its_answer_begins():
    counted: list[int] = []

    async def app(_: Any, receive: Any, send: Any) -> None:
        await receive()
        counted.append(limits.room.taken)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        counted.append(limits.room.taken)

    limits = BodyLimits(app, max_bytes=10)
    call(limits, scope(QUERY, method="POST"), body=[b"12", b"34"])
    assert counted == [4, 0]


def test_a_body_that_finds_no_room_is_put_off(monkeypatch):
    limits = BodyLimits(echo, max_bytes=10)
    monkeypatch.setattr(shared_room, "SMALL_BYTES", 0)
    monkeypatch.setattr(shared_room, "USUAL_BYTES", 0)
    limits.room = BodyRoom(largest=10, most=4, seconds=0)
    answer = call(limits, scope(QUERY, method="POST"), body=[b"12345"])
    assert (answer.status, json.loads(answer.body)["code"]) == (503, "busy")
    assert call(limits, scope(QUERY, method="POST"), body=[b"1234"]).body == b"1234"


def test_who_stalls_while_others_wait_hears_so_and_they_go_on(monkeypatch):
    for name, size in {"SMALL_BYTES": 1, "USUAL_BYTES": 1, "PACE_BYTES": 1}.items():
        monkeypatch.setattr(shared_room, name, size)
    limits = BodyLimits(echo, max_bytes=10)
    limits.room = BodyRoom(largest=10, most=10)

    async def stalls(receive: list[bytes]) -> tuple[float, list[Any]]:
        sent: list[Any] = []

        async def given() -> Any:
            if receive:
                return {"type": "http.request", "body": receive.pop(), "more_body": True}
            await asyncio.get_running_loop().create_future()

        async def send(message: Any) -> None:
            assert limits.room.taken <= 6  # its own went before it was told
            sent.append(message)

        await limits(scope(QUERY, method="POST"), given, send)
        return asyncio.get_running_loop().time(), sent

    async def scenario() -> None:
        began = asyncio.get_running_loop().time()
        stalled = asyncio.ensure_future(stalls([b"123456"]))
        await asyncio.sleep(0)
        answered: list[Any] = []
        messages: list[Message] = [{"type": "http.request", "body": b"123456"}]

        async def receive() -> Message:
            return messages.pop()

        async def send(message: Any) -> None:
            answered.append(message)

        await limits(scope(QUERY, method="POST"), receive, send)
        ended, (start, said) = await stalled
        assert (ended - began, start["status"]) == (shared_room.PACE_SECONDS, 408)
        assert "stalled while others waited" in json.loads(said["body"])["detail"]
        assert answered[-1]["body"] == b"123456"

    run_at_once(scenario())


def test_a_form_is_read_no_further_than_the_most_that_is_read_of_one(monkeypatch):
    body = form(PROMPT, LARGE)  # of which the file goes
    request = scope(ADMIN, method="POST", headers={"Content-Type": TYPE})
    app = BodyLimits(echo, max_bytes=1000)
    for most, status in ((len(body), 200), (len(body) - 1, 413)):
        monkeypatch.setattr(bodies, "MOST_READ_BYTES", most)
        assert call(app, request, body=pieces(body, 64)).status == status
    roomy = BodyLimits(echo, max_bytes=len(body))
    assert call(roomy, request, body=pieces(body, 64)).body == body


def test_messages_that_say_little_are_the_end_of_an_empty_body():
    async def scenario() -> list[Any]:
        sent: list[Any] = []

        messages = [{"type": "http.request"}]

        async def receive() -> Any:
            return messages.pop()

        async def send(message: Any) -> None:
            sent.append(message)

        await LIMITED(scope(QUERY, method="POST"), receive, send)
        return sent

    assert asyncio.run(scenario())[-1]["body"] == b""


def test_after_the_body_the_server_speaks_again():
    heard: list[Any] = []

    async def listen(request: Any, receive: Any, send: Any) -> None:
        heard.extend([await receive(), await receive()])

    call(BodyLimits(listen, max_bytes=10), scope(QUERY, method="POST"), body=[b"x", b"y"])
    assert heard == [
        {"type": "http.request", "body": b"xy", "more_body": False},
        {"type": "http.disconnect"},
    ]
