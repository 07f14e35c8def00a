"""A token is believed when it is whole, of this issuer, for this service and in time; else in words."""

import asyncio
import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
import json
import time
from typing import Any

import jwt
import pytest

from copilot_admin.agent.fetching.egress import FetchFailed
from copilot_admin.copilots.end_users import (
    MAX_TOKEN_LENGTH,
    AskingUser,
    Credentials,
    UserSource,
    get_jwks_client,
    user_of,
)
from copilot_admin.copilots.user_tokens import JwksClient, find_key, read_key, read_key_set
from copilot_admin.errors import Unavailable, UnknownUser
from tests.jwt_issuer import (
    KeySetServer,
    ec_jwk,
    ec_key,
    jwk,
    key_set,
    pem,
    rsa_key,
    rules,
    token_of,
)

SECRET = "a shared secret that nobody guesses, 2026"
NOW = int(time.time())


def read(token: str, settings: Any, **changes: Any) -> AskingUser | None:
    settings.USER_TOKENS = rules(**changes)
    return asyncio.run(user_of(Credentials(token=token)))


def refusal(token: str, settings: Any, **changes: Any) -> str:
    with pytest.raises(UnknownUser) as caught:
        read(token, settings, **changes)
    assert (caught.value.status, caught.value.code) == (401, "unknown-user")
    return caught.value.public


def encoded(part: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def test_a_token_names_its_user(settings):
    token = token_of(email="a@b.example", name="Ada L.")
    assert read(token, settings) == AskingUser(
        id="ada", email="a@b.example", name="Ada L.", source=UserSource.TOKEN
    )
    assert read(token_of(aud=["other", "copilots"]), settings) == AskingUser(id="ada")


def test_claims_are_those_of_the_setting_and_the_first_that_is_there_counts(settings):
    token = token_of(sub=None, oid="", uid=4711, upn=" ada@b.example ", nick=["x"], full="A")
    changes = {
        "id_claims": ("oid", "uid"),
        "email_claims": ("mail", "upn"),
        "name_claims": ("nick", "full"),
    }
    assert read(token, settings, **changes) == AskingUser(
        id="4711", email="ada@b.example", name="A"
    )


@pytest.mark.parametrize("claims", [{}, {"oid": ""}, {"oid": True}, {"oid": {"a": 1}}])
def test_a_token_without_a_name_is_refused(settings, claims):
    said = refusal(token_of(sub=None, **claims), settings, id_claims=("oid", "uid"))
    assert "no oid or uid" in said


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ({"exp": NOW - 60}, "it has expired"),
        ({"nbf": NOW + 36_000}, "it is not valid yet"),
        ({"iat": NOW + 36_000}, "it is not valid yet"),
        ({"aud": "others"}, "another service"),
        ({"aud": ["others"]}, "another service"),
        ({"aud": {"copilots": 1}}, "another service"),
        ({"iss": "https://login.example.com/"}, "another issuer"),
        ({"exp": "tomorrow"}, "cannot be read"),
        ({"exp": float("inf")}, "cannot be read"),
        ({"exp": None}, "no exp"),
        ({"iss": None}, "no iss"),
        ({"aud": None}, "no aud"),
        ({"aud": []}, "no aud"),
    ],
)
def test_a_token_that_is_not_for_now_or_not_for_here_is_refused(settings, claims, reason):
    assert reason in refusal(token_of(**claims), settings)


def test_clocks_may_differ_by_the_leeway(settings):
    now = int(time.time())
    late, early = token_of(exp=now - 5), token_of(nbf=now + 20, exp=now + 60)
    assert read(late, settings) == read(early, settings) == AskingUser(id="ada")
    assert "has expired" in refusal(late, settings, leeway=0.0)


def test_no_algorithm_is_believed_but_those_of_the_setting(settings):
    whole = {
        "iss": "https://login.example.com",
        "aud": "copilots",
        "sub": "eve",
        "exp": NOW + 60,
    }
    for algorithm in ("none", "None", "", None, ["RS256"], {"a": 1}, "RS512"):
        forged = f"{encoded({'alg': algorithm, 'kid': 'one'})}.{encoded(whole)}."
        assert "not signed with RS256" in refusal(forged, settings)
    # The public key taken for a shared secret.
    parts = f"{encoded({'alg': 'HS256', 'kid': 'one'})}.{encoded(whole)}"
    mac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256)
    signature = base64.urlsafe_b64encode(mac.sign(parts.encode(), pem("one").encode()))
    forged = f"{parts}.{signature.rstrip(b'=').decode()}"
    assert "not signed with RS256" in refusal(forged, settings)
    assert "not signed with RS256" in refusal(
        forged, settings, keys=read_key(pem("one"), ("RS256",))
    )


def test_a_token_whose_words_were_changed_is_refused(settings):
    head, body, signature = token_of().split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    forged = f"{head}.{encoded({**claims, 'sub': 'eve'})}.{signature}"
    assert "its signature is wrong" in refusal(forged, settings)
    assert "its signature is wrong" in refusal(token_of(key=rsa_key("other")), settings)
    unsigned, empty = f"{head}.{body}.", f"{head}..{signature}"
    for broken in ("a.b.c", "..", unsigned, empty, "é.é.é", "[.[.[", "W10.e.e"):
        assert refusal(broken, settings)


def test_a_long_token_is_read_and_an_endless_one_is_not(settings):
    token = token_of(groups=["g" * 100] * 70)
    assert 10_000 < len(token) < MAX_TOKEN_LENGTH
    assert read(token, settings) == AskingUser(id="ada")
    assert "longer than 16384 characters" in refusal("a" * MAX_TOKEN_LENGTH + ".b.c", settings)


def test_a_key_is_found_by_its_name_and_for_one_algorithm_only(settings):
    keys = read_key_set(key_set(jwk("one"), jwk("two")), ("RS256",))
    assert read(token_of(kid="two"), settings, keys=keys) == AskingUser(id="ada")
    assert "key that is not known" in refusal(token_of(kid="three"), settings, keys=keys)
    assert "key that is not known" in refusal(token_of(kid=None), settings, keys=keys)
    only = read_key_set(key_set(jwk("one", alg="PS256")), ("RS256", "PS256"))
    allowed = {"keys": only, "algorithms": ("RS256", "PS256")}
    assert "key that is not known" in refusal(token_of(), settings, **allowed)
    assert read(token_of(algorithm="PS256"), settings, **allowed) == AskingUser(id="ada")


def test_a_token_without_a_key_name_means_the_only_key(settings):
    nameless = {name: value for name, value in jwk("one").items() if name not in ("kid", "alg")}
    keys = read_key_set(key_set(nameless), ("RS256",))
    for kid in (None, "one"):
        assert read(token_of(kid=kid), settings, keys=keys) == AskingUser(id="ada")
    assert read(token_of(kid=None), settings) == AskingUser(id="ada")


def test_other_kinds_of_keys_check_other_tokens(settings):
    keys = read_key_set(key_set(ec_jwk("e"), jwk("one")), ("ES256", "RS256"))
    token = token_of(kid="e", key=ec_key("e"), algorithm="ES256")
    both = {"keys": keys, "algorithms": ("ES256", "RS256")}
    assert read(token, settings, **both) == read(token_of(), settings, **both)
    shared = {"keys": read_key(SECRET, ("HS256",)), "algorithms": ("HS256",)}
    token = token_of(kid=None, key=SECRET, algorithm="HS256")
    assert read(token, settings, **shared) == AskingUser(id="ada")
    assert read(token_of(), settings, keys=read_key(pem("one"), ("RS256",))) is not None


def test_names_are_text_without_signs_that_turn_it_around(settings):
    token = token_of(name="Zoë \u202egnp.exe\n李\u200b", email="x\x00@b\u2066" + "y" * 400)
    user = read(token, settings)
    assert (user.name, user.email) == ("Zoë gnp.exe 李", ("x @b " + "y" * 400)[:254])


@pytest.mark.parametrize(
    "user_id",
    ["a\u202eb", "a\x00", "ad\u200ba", "a\nb", "a\u00a0b"],
)
def test_an_id_with_signs_that_cannot_be_seen_is_none(settings, user_id):
    assert "cannot be seen" in refusal(token_of(sub=user_id), settings)


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
