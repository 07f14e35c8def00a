"""Requests with too much in their headers, before anything reads one."""

import asyncio
import json
from typing import Any

import pytest

from copilot_admin import asgi
from copilot_admin.asgi import application
from copilot_admin.config.figure_readers import figure_readers
from copilot_admin.http.asgi_types import App
from copilot_admin.http.header_limits import (
    MOST_HEADER_BYTES,
    MOST_HEADERS,
    HeaderLimits,
    size_of_head,
)
from copilot_admin.telemetry import metrics
from tests.http.asgi_client import call, scope
from tests.http.test_edge import QUERY, echo

LIMITED = HeaderLimits(echo)
ORIGIN = "https://pro.openbb.co"


def request_of(size: int, **more: Any) -> dict[str, Any]:
    """A request whose address and headers have so many bytes in all."""
    plain = scope(QUERY, headers={"X-Filling": ""}, **more)
    return scope(QUERY, headers={"X-Filling": "x" * (size - size_of_head(plain))}, **more)


def test_all_bytes_of_the_head_count_and_four_more_for_each_header():
    plain = scope("/v2/é", headers={"Accept": "*/*", "X": ""})
    assert size_of_head(plain) == 5 + (6 + 3 + 4) + (1 + 0 + 4)
    assert size_of_head({**plain, "raw_path": b"/v2/%C3%A9", "query_string": b"a=1"}) == 18 + 13
    assert MOST_HEADER_BYTES == 65_536


def test_headers_of_64_kb_pass_and_one_byte_more_does_not():
    passed = call(LIMITED, request_of(MOST_HEADER_BYTES), body=[b"read"])
    refused = call(LIMITED, request_of(MOST_HEADER_BYTES + 1))
    assert (passed.status, passed.body) == (200, b"read")
    assert (refused.status, refused.header("connection")) == (431, "close")
    assert json.loads(refused.body) == {
        "code": "headers-too-large",
        "detail": (
            "The headers of the request are larger than the 64 KB this server accepts, or more "
            "than a thousand. Send fewer headers or cookies, and a shorter address."
        ),
    }


@pytest.mark.parametrize("path", [QUERY, "/admin/"])
def test_a_content_type_that_would_take_long_to_read_is_refused(path):
    """It is read by a parser for mails, and so are several of them as one."""
    rows = scope(path)["headers"]
    half = (b"content-type", b"a/b" + b";" * 509)
    passed = {**scope(path), "headers": [*rows, half, half]}
    assert call(LIMITED, passed, body=[b"read"]).status == 200
    more = {**passed, "headers": [*passed["headers"], (b"content-type", b"c")]}
    refused = call(LIMITED, more)
    assert (refused.status, json.loads(refused.body)["detail"]) == (
        431,
        "The Content-Type of the request has more than 1,024 bytes. Send a shorter one.",
    )


@pytest.mark.parametrize(
    "more",
    [
        {"headers": {f"X-{number}": "" for number in range(10_000)}},
        {"query_string": b"x" * MOST_HEADER_BYTES},
        {"raw_path": b"/" + b"%41" * MOST_HEADER_BYTES},
    ],
    ids=["many headers", "a long query", "a long path"],
)
def test_many_small_headers_and_a_long_address_count_as_well(more):
    assert call(LIMITED, scope(QUERY, **more)).status == 431


def test_a_thousand_headers_pass_and_one_more_does_not():
    for number, status in ((MOST_HEADERS, 200), (MOST_HEADERS + 1, 431)):
        request = scope(QUERY, headers={f"X-{place}": "" for place in range(number)})
        assert call(LIMITED, request, body=[b""]).status == status


def test_who_still_sends_a_body_hears_the_refusal_first_and_is_heard_out():
    pieces = [b"3", b"2", b"1"]
    sent: list[Any] = []

    async def receive() -> Any:
        assert len(sent) == 2, "the answer does not wait for the body"
        return {"type": "http.request", "body": pieces.pop(), "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(LIMITED(request_of(MOST_HEADER_BYTES + 1, method="POST"), receive, send))
    start, words, end = sent
    assert (start["status"], words["more_body"], end, pieces) == (
        431,
        True,
        {"type": "http.response.body", "body": b""},
        [],
    )


@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
def test_a_browser_of_another_origin_may_read_the_refusal(method):
    headers = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "X-Filling": "x" * MOST_HEADER_BYTES,
    }
    answer = call(application, scope(QUERY, method=method, headers=headers))
    assert (answer.status, answer.header("access-control-allow-origin")) == (431, ORIGIN)


@pytest.fixture
def with_figures(settings: Any, monkeypatch: pytest.MonkeyPatch) -> App:
    """The whole application of a server that shows figures, which nobody else counts in."""
    settings.METRICS_READERS = figure_readers("", ("192.0.2.1",))
    for name in ("_counting", "WATCHERS", "LISTENERS"):
        monkeypatch.setattr(metrics, name, [])
    return asgi._build()


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"])
@pytest.mark.parametrize(
    "path",
    [
        QUERY,
        "/v1/copilots/news/feedback",
        "/v1/copilots/news/image",
        "/v2/components",
        "/agents.json",
        "//agents.json",
        "/metrics",
        "/healthz",
        "/readyz",
        "/static/admin/css/base.css",
        "/admin/",
        "/nowhere",
    ],
)
def test_the_limits_hold_for_every_method_at_every_address(with_figures, method, path):
    """Preflights and figures were answered before anything had looked at their headers."""
    preflight = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    for filling in (
        {"X": "x" * 200_000},
        {f"X-{number}": "" for number in range(20_000)},
        {"Content-Type": "a/b" + ";" * 1022},
    ):
        asked = {"method": method, "client": ("192.0.2.1", 5), "headers": {**preflight, **filling}}
        assert call(with_figures, scope(path, **asked)).status == 431


def test_preflights_and_figures_within_the_limits_are_answered(with_figures):
    headers = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    preflight = scope(QUERY, method="OPTIONS", headers=headers)
    assert call(with_figures, preflight).status == 204
    assert call(with_figures, scope("/metrics", client=("192.0.2.1", 5))).status == 200


@pytest.mark.parametrize("method", ["POST", "OPTIONS"])
def test_a_refusal_has_the_ids_of_its_request(method):
    headers = {
        "Access-Control-Request-Method": "POST",
        "X-Trace-Id": "chat-1",
        "X-Filling": "x" * MOST_HEADER_BYTES,
    }
    answer = call(application, scope(QUERY, method=method, headers=headers))
    assert (answer.status, answer.header("x-trace-id")) == (431, "chat-1")


def test_a_page_is_refused_with_a_page():
    headers = {"Accept": "text/html,*/*", "Cookie": "x" * MOST_HEADER_BYTES}
    answer = call(application, scope("/admin/", headers=headers))
    assert (answer.status, answer.header("content-type")) == (431, "text/html; charset=utf-8")
    assert b"Send fewer headers or cookies" in answer.body
    assert b"Go back one page" not in answer.body


def test_a_web_socket_is_closed_before_it_opens():
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    request = {**request_of(MOST_HEADER_BYTES + 1), "type": "websocket"}
    asyncio.run(LIMITED(request, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1009}]


def test_the_life_of_the_server_has_no_headers():
    assert call(LIMITED, {"type": "lifespan"}, body=[b"x"]).body == b"x"
