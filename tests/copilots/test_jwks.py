"""Key sets: which keys are usable, and when they are fetched again."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
import json
from typing import Any

import pytest

from copilot_admin.agent.fetching.egress import FetchFailed
from copilot_admin.copilots.end_users import AskingUser, Credentials, get_jwks_client, user_of
from copilot_admin.copilots.user_tokens import JwksClient, find_key, read_key_set
from copilot_admin.errors import Unavailable, UnknownUser
from tests.jwt_issuer import KeySetServer, ec_jwk, jwk, key_set, rules, token_of

URL = "https://login.example.com/jwks.json"


@pytest.mark.parametrize(
    "text",
    [
        b'{"keys": [1, null, {}]}',
        key_set(jwk("one", use="enc")),
        key_set(jwk("one", alg="PS256")),
        key_set({**jwk("one"), "kid": 7}),
        key_set(jwk("one", n="!")),
        key_set({"kty": "oct", "k": "c2VjcmV0", "alg": "RS256"}),
        key_set(ec_jwk("e")),
    ],
)
def test_unusable_keys_are_left_out(text: bytes):
    assert read_key_set(text, ("RS256",)) == {}


@pytest.mark.parametrize("text", [b"\xff", b"[" * 100_000, b"[]", b'{"keys": 1}'])
def test_other_documents_are_rejected(text: bytes):
    with pytest.raises(ValueError, match="not a JWKS document"):
        read_key_set(text, ("RS256",))


def test_a_key_is_bound_to_its_algorithms():
    both = {name: one for name, one in jwk("one").items() if name != "alg"}
    keys = read_key_set(key_set(both, ec_jwk("e"), {"kty": "new"}), ("RS256", "PS256", "ES256"))
    assert sorted(keys) == [("e", "ES256"), ("one", "PS256"), ("one", "RS256")]
    assert read_key_set(key_set(ec_jwk("e")), ("ES384",)) == {}
    private = read_key_set(key_set(jwk("one", d="c2VjcmV0")), ("RS256",))
    assert not hasattr(find_key(private, "one", "RS256"), "private_numbers")


class Issuer:
    """An issuer in memory, and a clock that a test sets."""

    def __init__(self, *names: str) -> None:
        self.body: bytes | None = key_set(*map(jwk, names))  # None: it is away
        self.fetches, self.now = 0, 100.0
        self.client = JwksClient(URL, ("RS256",), fetch=self._fetch, clock=lambda: self.now)

    @asynccontextmanager
    async def _fetch(self, url: str) -> AsyncGenerator[bytes, None]:
        assert url == URL
        self.fetches += 1
        await asyncio.sleep(0)
        if self.body is None:
            raise FetchFailed("It could not be reached.", detail="Have its certificate renewed.")
        yield self.body

    async def names(self) -> list[str]:
        return sorted(kid for kid, _ in await self.client.get_keys())


def test_keys_are_fetched_once_and_again_when_they_are_old():
    async def scenario() -> None:
        issuer = Issuer("one")
        assert await asyncio.gather(*(issuer.names() for _ in range(4))) == [["one"]] * 4
        issuer.body, issuer.now = key_set(jwk("two")), issuer.now + 599.9
        assert (await issuer.names(), issuer.fetches) == (["one"], 1)
        issuer.now += 0.1
        assert (await issuer.names(), issuer.fetches) == (["two"], 2)

    asyncio.run(scenario())


def test_an_unknown_key_is_fetched_at_most_once_a_minute():
    async def scenario() -> None:
        issuer = Issuer("one")
        await issuer.names()
        issuer.body = key_set(jwk("one"), jwk("two"))
        assert len(await issuer.client.get_keys(60)) == 1
        issuer.now += 60
        assert len(await issuer.client.get_keys(60)) == 2
        assert issuer.fetches == 2

    asyncio.run(scenario())


@pytest.mark.parametrize("body", [None, b"<html>"])
def test_known_keys_stay_valid_while_the_issuer_is_away(body, caplog):
    async def scenario() -> None:
        issuer = Issuer("one")
        await issuer.names()
        issuer.body, issuer.now = body, issuer.now + 3600
        assert await issuer.names() == ["one"]
        assert issuer.fetches == 2

    asyncio.run(scenario())
    assert len(caplog.records) == 1


@pytest.mark.parametrize("left", [[], [jwk("two", alg="RS512")]], ids=["none", "of other kinds"])
def test_withdrawn_keys_are_not_valid_any_more(left, caplog):
    async def scenario() -> None:
        issuer = Issuer("one")
        await issuer.names()
        issuer.body, issuer.now = json.dumps({"keys": left}).encode(), issuer.now + 600
        assert await issuer.names() == []
        issuer.body, issuer.now = key_set(jwk("three")), issuer.now + 600
        assert await issuer.names() == ["three"]

    asyncio.run(scenario())
    assert len(caplog.records) == 1


@pytest.mark.parametrize("body", [None, b'{"keys": []}'])
def test_without_any_keys_users_are_unavailable_and_not_unknown(body: Any):
    async def scenario() -> None:
        issuer = Issuer("one")
        issuer.body = body
        for seconds in (0, 4.9):
            issuer.now += seconds
            with pytest.raises(Unavailable) as caught:
                await issuer.names()
            assert (caught.value.status, caught.value.code) == (503, "no-user-keys")
        assert issuer.fetches == 1
        issuer.body, issuer.now = key_set(jwk("one")), issuer.now + 0.2
        assert await issuer.names() == ["one"]

    asyncio.run(scenario())


def test_a_key_set_may_have_a_private_url(settings):
    with KeySetServer().running() as server:
        settings.USER_TOKENS = rules(keys=None, jwks_url=server.address)
        assert asyncio.run(user_of(Credentials(token=token_of()))) == AskingUser(id="ada")
        with pytest.raises(UnknownUser):
            asyncio.run(user_of(Credentials(token=token_of(kid="two"))))
        assert server.asked == 1
    get_jwks_client.cache_clear()
