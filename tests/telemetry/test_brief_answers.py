"""What answers in a collector's place is read for as much as a collector says."""

from http.server import BaseHTTPRequestHandler
import threading
import zlib

import pytest
import requests

from copilot_admin.telemetry.brief_answers import MOST_BYTES, brief_session
from copilot_admin.telemetry.traces import Traces
from tests.http_stub import http_stub
from tests.polling import HANGS_SECONDS
from tests.telemetry.collector import TestCollector
from tests.telemetry.ended import ended_run
from tests.telemetry.test_traces import traced


def head(handler: BaseHTTPRequestHandler, status: int = 200, **fields: str) -> None:
    handler.send_response(status)
    for name, value in fields.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()


class Endless:
    """Sends pieces until nobody takes them any more; of 64 MB it is known that they are taken."""

    def __init__(self, *, chunked: bool) -> None:
        self.chunked = chunked
        self.was_left = threading.Event()

    def __call__(self, handler: BaseHTTPRequestHandler) -> None:
        piece = b"x" * MOST_BYTES
        if self.chunked:
            head(handler, Transfer_Encoding="chunked")
            piece = b"%x\r\n%b\r\n" % (len(piece), piece)
        else:
            head(handler, Connection="close")
        try:
            for _ in range(1024):
                handler.wfile.write(piece)
        except OSError:
            self.was_left.set()


@pytest.mark.parametrize("chunked", [False, True])
def test_an_answer_without_an_end_is_left(chunked: bool) -> None:
    endless = Endless(chunked=chunked)
    with http_stub(endless, protocol="HTTP/1.1") as address:
        traces = Traces(traced(TestCollector(address=address)))
        traces.take(ended_run())
        traces.stop(timeout=HANGS_SECONDS)
        assert endless.was_left.wait(HANGS_SECONDS)


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        ({"Content_Length": str(MOST_BYTES + 1)}, b"x" * (MOST_BYTES + 1)),
        ({"Content_Length": "1" * 5000}, b""),
        ({"Content_Length": "\u00b2"}, b""),
        ({}, b"x"),
    ],
)
def test_what_may_be_long_is_not_read(fields: dict[str, str], body: bytes) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        head(handler, 500, Connection="close", **fields)
        handler.wfile.write(body)

    with http_stub(answer, protocol="HTTP/1.1") as address, brief_session() as session:
        answered = session.post(address, b"spans", timeout=HANGS_SECONDS)
    assert (answered.status_code, answered.content) == (500, b"")


def test_nor_is_what_is_packed() -> None:
    packed = zlib.compress(b"x" * 10_000_000)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        head(handler, Content_Encoding="deflate", Content_Length=str(len(packed)))
        handler.wfile.write(packed)

    assert len(packed) < MOST_BYTES
    with http_stub(answer, protocol="HTTP/1.1") as address, brief_session() as session:
        assert session.post(address, b"spans", timeout=HANGS_SECONDS).content == b""


def test_after_a_short_answer_the_connection_is_used_again() -> None:
    ports: list[int] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        ports.append(handler.client_address[1])
        head(handler, Content_Length="2")
        handler.wfile.write(b"{}")

    with http_stub(answer, protocol="HTTP/1.1") as address, brief_session() as session:
        answers: list[requests.Response] = [
            session.post(address, b"spans", timeout=HANGS_SECONDS) for _ in range(2)
        ]
    assert [answer.content for answer in answers] == [b"{}", b"{}"]
    assert len(set(ports)) == 1
