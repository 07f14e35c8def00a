"""The keys of an issuer: fetched when they are needed, renewed, and kept when it is away."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
import json
from typing import Any

import pytest

from copilot_admin.agent.fetching.egress import FetchFailed
from copilot_admin.copilots import door
from copilot_admin.copilots.door import Credentials, user_of
from copilot_admin.copilots.fetched_keys import FetchedKeys
from copilot_admin.copilots.key_sets import KeySet
from copilot_admin.copilots.users import AskingUser
from copilot_admin.errors import Unavailable, UnknownUser
from tests.jwt_issuer import KeySetServer, jwk, key_set, rules, token_of

ADDRESS = "https://login.example.com/jwks.json"


class Issuer:
    """An issuer in memory, and a clock that a test sets."""

    def __init__(self, *names: str) -> None:
        self.names: tuple[str, ...] | None = names  # None: it is away
        self.document: bytes | None = None  # what it says in place of its keys
        self.asked, self.now = 0, 100.0
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        self.keys = FetchedKeys(ADDRESS, ("RS256",), fetch=self._fetch, clock=lambda: self.now)

    @asynccontextmanager
    async def _fetch(self, address: str) -> AsyncGenerator[bytes, None]:
        assert address == ADDRESS
        self.asked += 1
        await self.may_answer.wait()
        if self.names is None:
            raise FetchFailed("It could not be reached.", detail="Have its certificate renewed.")
        keys = key_set(*map(jwk, self.names)) if self.names else b"<html>"
        yield keys if self.document is None else self.document

    async def knows(self) -> list[str]:
        return names_in(await self.keys.current())

    async def renewed(self) -> None:
        fetching = self.keys._fetching
        assert fetching is not None
        await fetching


def names_in(keys: KeySet) -> list[str]:
    return sorted(kid for kid, _ in keys.keys)


def run(scenario: Callable[[], Awaitable[Any]]) -> Any:
    return asyncio.run(scenario())  # type: ignore[arg-type]  # all are coroutines


def test_keys_are_fetched_once_for_all_who_wait():
    async def scenario() -> None:
        issuer = Issuer("one")
        issuer.may_answer.clear()
        waiting = [asyncio.create_task(issuer.knows()) for _ in range(5)]
        await asyncio.sleep(0)
        waiting.pop().cancel()  # whoever leaves takes nothing from the others
        issuer.may_answer.set()
        assert await asyncio.gather(*waiting) == [["one"]] * 4
        assert await issuer.knows() == ["one"]
        assert issuer.asked == 1

    run(scenario)


def test_old_keys_are_renewed_beside_the_answer():
    async def scenario() -> None:
        issuer = Issuer("one")
        await issuer.knows()
        issuer.names, issuer.now = ("two",), issuer.now + 599.9
        assert (await issuer.knows(), issuer.asked) == (["one"], 1)
        issuer.now += 0.1
        assert await issuer.knows() == ["one"]
        await issuer.renewed()
        assert (await issuer.knows(), issuer.asked) == (["two"], 2)

    run(scenario)


def test_a_key_that_was_taken_back_while_nobody_asked_is_good_for_nobody():
    async def scenario() -> None:
        issuer = Issuer("one")
        await issuer.knows()
        issuer.names, issuer.now = ("two",), issuer.now + 1200
        assert (await issuer.knows(), issuer.asked) == (["two"], 2)

    run(scenario)


def test_an_unknown_key_is_asked_for_at_most_once_a_minute():
    async def scenario() -> None:
        issuer = Issuer("one")
        await issuer.knows()
        assert await issuer.keys.newer() is None  # it was asked just now
        issuer.names, issuer.now = ("one", "two"), issuer.now + 60
        newer = await issuer.keys.newer()
        assert newer is not None
        assert (names_in(newer), issuer.asked) == (["one", "two"], 2)
        issuer.now += 59
        assert await issuer.keys.newer() is None
        assert issuer.asked == 2

    run(scenario)


def test_an_issuer_that_is_away_takes_no_key_away(caplog):
    async def scenario() -> None:
        issuer = Issuer("one")
        await issuer.knows()
        issuer.names, issuer.now = None, issuer.now + 3600
        assert await issuer.knows() == ["one"]
        issuer.names, issuer.now = (), issuer.now + 60  # it is back, with a page of its own
        assert await issuer.keys.newer() is None
        assert await issuer.knows() == ["one"]
        assert issuer.asked == 3

    run(scenario)
    assert [one.getMessage() for one in caplog.records] == [
        "the keys of users could not be fetched (those that are known stay): "
        "Have its certificate renewed.",
        'the keys of users could not be fetched (those that are known stay): It is not a JWKS document: {"keys": [...]}.',
    ]


@pytest.mark.parametrize("left", [[], [jwk("two", alg="RS512")]], ids=["none", "of other kinds"])
def test_keys_that_the_issuer_takes_back_are_good_no_more_also_when_none_is_left(left, caplog):
    async def scenario() -> None:
        issuer = Issuer("one")
        assert await issuer.knows() == ["one"]
        issuer.document, issuer.now = json.dumps({"keys": left}).encode(), issuer.now + 60
        newer = await issuer.keys.newer()
        assert newer is not None
        assert (names_in(newer), await issuer.knows()) == ([], [])
        issuer.document, issuer.names, issuer.now = None, ("three",), issuer.now + 60
        assert await issuer.keys.newer() is not None
        assert await issuer.knows() == ["three"]

    run(scenario)
    assert [one.getMessage() for one in caplog.records] == [
        "the keys of users could not be fetched (those that were known are taken back): "
        "It has no key for RS256."
    ]


def test_an_issuer_that_never_had_a_key_is_no_forgery_of_who_asks():
    async def scenario() -> None:
        issuer = Issuer("one")
        issuer.document = b'{"keys": []}'
        with pytest.raises(Unavailable):
            await issuer.knows()

    run(scenario)


def test_without_any_key_nobody_is_taken_for_a_forger():
    async def scenario() -> None:
        issuer = Issuer("one")
        issuer.names = None
        for seconds in (0, 4.9):
            issuer.now += seconds
            with pytest.raises(Unavailable) as caught:
                await issuer.knows()
            assert (caught.value.status, caught.value.code) == (503, "no-user-keys")
        assert issuer.asked == 1
        issuer.names, issuer.now = ("one",), issuer.now + 0.2
        assert await issuer.knows() == ["one"]

    run(scenario)


def test_a_key_set_is_fetched_from_its_own_address_though_that_is_private(settings):
    with KeySetServer().running() as server:
        settings.USER_TOKENS = rules(keys=None, jwks_url=server.address)
        door._fetched_keys.cache_clear()
        assert asyncio.run(user_of(Credentials(token=token_of()))) == AskingUser(id="ada")
        with pytest.raises(UnknownUser, match="key that is not known"):
            asyncio.run(user_of(Credentials(token=token_of(kid="two"))))
        assert server.asked == 1
        # A minute later the issuer has turned its keys over.
        fetched = door._fetched_keys(server.address, ("RS256",))
        fetched._tried_at = -60.0
        fetched._clock = lambda: 0.0
        server.body = key_set(jwk("two"))
        assert asyncio.run(user_of(Credentials(token=token_of(kid="two")))) is not None
        with pytest.raises(UnknownUser):
            asyncio.run(user_of(Credentials(token=token_of())))
        assert server.asked == 2
    door._fetched_keys.cache_clear()
