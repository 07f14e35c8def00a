"""What comes from a process that was taken over is read as bytes, and no further than is right."""

import asyncio
import socket

import pytest

from copilot_admin.agent.processes import exchange
from copilot_admin.agent.processes.exchange import TooLong, replies_from
from copilot_admin.agent.processes.frames import send_replies, take_order


def read(data, *, most_bytes=1000):
    """The replies in some bytes, behind which the socket is closed."""

    async def replies():
        mine, its = socket.socketpair()
        with mine, its:
            mine.setblocking(False)
            its.sendall(data)
            its.shutdown(socket.SHUT_WR)
            return [one async for one in replies_from(mine, most_bytes=most_bytes)]

    return asyncio.run(replies())


def frame(data):
    return len(data).to_bytes(4, "big") + data


def test_replies_end_with_an_empty_one():
    assert read(frame(b'{"a": 1}') + frame(b"[2]") + bytes(4) + b"more") == [{"a": 1}, [2]]


@pytest.mark.parametrize("data", [b"", b"\0", frame(b"[1]"), frame(b"[1]")[:-1]])
def test_replies_that_break_off_are_told(data):
    with pytest.raises(EOFError):
        read(data)


@pytest.mark.parametrize("data", [b"{", b"\xff\xff", b"[" * 900, b"\x80\x04."])
def test_what_is_no_json_is_told(data):
    with pytest.raises(ValueError):
        read(frame(data) + bytes(4))


def test_what_is_nested_too_deeply_is_told():
    with pytest.raises(ValueError, match="nested too deeply"):
        read(frame(b"[" * 100_000) + bytes(4), most_bytes=200_000)


def test_a_length_beyond_the_limit_is_not_waited_for():
    with pytest.raises(TooLong):
        read(b"\xff\xff\xff\xff")


def test_a_reply_with_more_in_it_than_any_has_is_not_read(monkeypatch):
    monkeypatch.setattr(exchange, "MOST_VALUES", 100)
    assert read(frame(b"[" + b"1," * 50 + b"1]") + bytes(4)) == [[1] * 51]
    with pytest.raises(TooLong):
        read(frame(b"[" + b"[]," * 100 + b"1]") + bytes(4))


def test_half_a_pair_of_surrogates_comes_as_it_is():
    mine, its = socket.socketpair()
    with mine, its:
        send_replies(its, ["\ud800"])
        assert read(mine.recv(100)) == ["\ud800"]


@pytest.mark.parametrize("data", [b"", b'{"size": 3}', b'{"size": 3}\nab'])
def test_an_order_that_breaks_off_is_none(data):
    mine, its = socket.socketpair()
    with mine, its:
        its.sendall(data)
        its.shutdown(socket.SHUT_WR)
        with pytest.raises(EOFError):
            take_order(mine)
