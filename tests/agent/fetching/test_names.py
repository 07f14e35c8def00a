"""Names that nobody answers for hold up no others: each kind of address has threads of its own."""

import asyncio
import socket
from threading import Event, Thread
from typing import Any

from aiohttp import ClientSession
import pytest

from copilot_admin.agent.fetching.connecting import BoundedConnector
from copilot_admin.agent.fetching.names import OF_LINKS, OF_PROVIDERS, OF_RECEIVERS, Names
from tests.agent.providers.upstream import serving
from tests.polling import HANGS_SECONDS

FOUND = [
    (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 443)),
    (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("2001:db8::7", 443, 0, 0)),
]


class Lookups:
    """Answers at once, for some names when it is told to, and never for a wrong one."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go_on = Event()

    def __call__(self, host: str, *_: Any, **__: Any) -> list[tuple[Any, ...]]:
        self.asked.append(host)
        if host.startswith("dead"):
            assert self.go_on.wait(HANGS_SECONDS)
        if host.startswith("wrong"):
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        if host.startswith("long"):
            raise UnicodeError("label too long")
        return FOUND


@pytest.fixture
def lookups(monkeypatch: pytest.MonkeyPatch) -> Lookups:
    found = Lookups()
    monkeypatch.setattr(socket, "getaddrinfo", found)
    return found


def test_a_name_has_the_addresses_that_the_system_knows(lookups):
    found = asyncio.run(Names(1).resolve("a.test", 443))
    assert [(one["hostname"], one["host"], one["port"], one["family"]) for one in found] == [
        ("a.test", "192.0.2.7", 443, socket.AF_INET),
        ("a.test", "2001:db8::7", 443, socket.AF_INET6),
    ]


def test_a_name_without_addresses_is_an_error_of_the_network(lookups):
    with pytest.raises(OSError, match="unknown"):
        asyncio.run(Names(1).resolve("wrong.test"))


def test_a_name_that_nobody_can_ask_for_is_one_too(lookups):
    with pytest.raises(OSError, match="label too long"):
        asyncio.run(Names(1).resolve("long.test"))


def test_what_hangs_in_one_kind_keeps_only_its_own_kind_waiting(lookups):
    strangers, models = Names(1), Names(1)

    async def look() -> list[str]:
        hanging = asyncio.create_task(strangers.resolve("dead.test"))
        later = asyncio.create_task(strangers.resolve("behind.test"))
        await models.resolve("model.test")
        seen = list(lookups.asked)
        lookups.go_on.set()
        await asyncio.gather(hanging, later)
        return seen

    assert sorted(asyncio.run(look())) == ["dead.test", "model.test"]
    assert lookups.asked[-1] == "behind.test"


def test_whoever_gives_up_frees_no_thread_that_still_hangs(lookups):
    links = Names(1)

    async def look() -> list[str]:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0):
                await links.resolve("never.test")
        hanging = asyncio.create_task(links.resolve("dead.test"))
        await asyncio.sleep(0)
        hanging.cancel()
        with pytest.raises(asyncio.CancelledError):
            await hanging
        later = asyncio.create_task(links.resolve("behind.test"))
        await asyncio.sleep(0)
        seen = list(lookups.asked)
        lookups.go_on.set()
        await later
        return seen

    assert asyncio.run(look())[-1] == "dead.test"
    assert lookups.asked[-1] == "behind.test"


def test_a_lookup_without_a_thread_keeps_no_place(lookups, monkeypatch):
    def no_more_threads(_: Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def look() -> str:
        names = Names(1)
        with monkeypatch.context() as crowded, pytest.raises(OSError, match="new thread"):
            crowded.setattr(Thread, "start", no_more_threads)
            await names.resolve("a.test")
        async with asyncio.timeout(HANGS_SECONDS):
            return (await names.resolve("b.test"))[0]["host"]

    assert asyncio.run(look()) == "192.0.2.7"


def test_a_server_is_found_by_its_name():
    async def handler(request: Any, reply: Any) -> None:
        await reply.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")

    async def ask() -> bytes:
        async with (
            serving(handler) as server,
            ClientSession(connector=BoundedConnector(Names(1))) as session,
            session.get(server.url.replace("127.0.0.1", "localhost")) as response,
        ):
            return await response.read()

    assert asyncio.run(ask()) == b"hi"


def test_strangers_models_and_receivers_are_kinds_of_their_own():
    assert len({id(OF_LINKS), id(OF_PROVIDERS), id(OF_RECEIVERS)}) == 3
