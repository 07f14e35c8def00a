"""Requests of HTTP/1.0: their answers end with the connection, and come in no chunks."""

from typing import Any

import pytest

from tests.server.test_http_protocol import wire_after

POST = b"POST / HTTP/1.0\r\nContent-Length: 2\r\n"
LENGTH = (b"content-length", b"4")


async def in_two_pieces(scope: Any, receive: Any, send: Any) -> None:
    """Answers twice what it was sent; tells its length where the address says so."""
    rows = [LENGTH] if scope["path"] == "/told" else []
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": rows})
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize("more", [b"", b"Connection: keep-alive\r\n"], ids=["", "kept alive"])
def test_an_answer_of_unknown_length_ends_with_the_connection(more):
    wire = wire_after([POST + more + b"\r\nhi"], app=in_two_pieces)
    assert wire.written == b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhihi"
    assert wire.closed_at_once


def test_one_whose_length_is_told_is_as_always():
    told = b"POST /told HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi"
    wire = wire_after([told], app=in_two_pieces)
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\n"
    assert (wire.written, wire.closed_at_once) == (head + b"hihi", True)


def test_a_head_has_no_body():
    wire = wire_after([b"HEAD / HTTP/1.0\r\n\r\n"], app=in_two_pieces)
    assert wire.written == b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n"


def test_nobody_is_told_to_go_on_who_does_not_know_what_that_is():
    wire = wire_after([POST + b"Expect: 100-continue\r\n\r\n", b"hi"], app=in_two_pieces)
    assert wire.written == b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhihi"
