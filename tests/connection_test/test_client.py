"""The server asks itself and nobody else, for a bounded time."""

import asyncio
import threading

from asgiref.sync import async_to_sync
import pytest

from copilot_admin.connection_test import client as module
from copilot_admin.connection_test.client import ConnectionAsker, is_own_url
from copilot_admin.connection_test.values import Answer, Unreached
from tests import tls
from tests.http_stub import Handle, Request, http_stub
from tests.polling import HANGS_SECONDS


def asked(address: str, *, base: str, seconds: float = 10.0) -> Answer:
    return async_to_sync(ConnectionAsker(base))("GET", address, seconds=seconds)


def says(body: bytes, status: int = 200, **headers: str) -> Handle:
    return lambda request: request.answer(body, status, **headers)


def test_steps_that_ask_together_are_no_crowd():
    """The server lets nobody go before three are there, and counts how many wait for it."""
    together, waiting, most = threading.Barrier(3), [], []

    def handle(request: Request) -> None:
        waiting.append(1)
        most.append(len(waiting))
        together.wait(HANGS_SECONDS)
        waiting.pop()
        says(b"{}")(request)

    async def crowd(base: str) -> None:
        ask = ConnectionAsker(base)
        await asyncio.gather(*(ask("GET", f"{base}/x") for _ in range(9)))

    with http_stub(handle) as base:
        async_to_sync(crowd)(base)
    assert (max(most), len(most)) == (3, 9)


@pytest.mark.parametrize(
    ("base", "public_url", "port", "may"),
    [
        ("https://a.example", "", "7777", True),
        ("http://localhost:7777", "", "7777", True),
        ("http://localhost:6379", "", "7777", False),
        ("https://a.example:8443", "", "7777", False),
        ("https://a.example:8443", "https://a.example:8443", "7777", True),
    ],
)
def test_a_port_that_only_a_sender_names_is_not_asked(base, public_url, port, may):
    assert is_own_url(base, public_url=public_url, server_port=port) is may


def test_an_answer_comes_as_it_is_and_a_redirect_is_not_followed():
    with http_stub(says(b"", 302, Location="http://169.254.169.254/")) as base:
        answer = asked(f"{base}/x", base=base)
    assert (answer.status, answer.headers["location"]) == (302, "http://169.254.169.254/")


@pytest.mark.parametrize(
    ("address", "base"),
    [
        ("http://127.0.0.1:1/x", "http://127.0.0.1:2"),
        ("http://127.0.0.1:2@evil.example/x", "http://127.0.0.1:2"),
        ("http://127.0.0.1:2/..\\x", "http://127.0.0.1:2"),
        ("//evil.example/x", "http://127.0.0.1:2"),
        ("http://127.0.0.1:2/x", ""),
    ],
)
def test_nobody_else_is_asked(address: str, base: str):
    with pytest.raises(Unreached):
        asked(address, base=base)


def test_a_server_that_is_not_there_is_unreached():
    with http_stub(says(b"")) as base:
        pass
    with pytest.raises(Unreached):
        asked(f"{base}/x", base=base)


def test_each_problem_of_a_certificate_has_its_own_message(monkeypatch):
    tls.trust(monkeypatch)
    messages = set()
    for certificate in (tls.expired, tls.of_a_stranger):
        with http_stub(says(b""), tls=certificate()) as base, pytest.raises(Unreached) as failed:
            asked(f"{base}/x", base=base)
        messages.add(failed.value.public)
    assert len(messages) == 2


def test_an_answer_without_end_is_cut(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "MAX_BYTES", 1000)
    with http_stub(says(b"x" * 1001)) as base, pytest.raises(Unreached):
        asked(f"{base}/x", base=base)
