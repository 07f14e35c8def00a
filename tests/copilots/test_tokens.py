"""A token is believed when it is whole, of this issuer, for this service and in time; else in words."""

import asyncio
import base64
import json
import time
from typing import Any

import jwt
import pytest

from copilot_admin.copilots.end_users import (
    MAX_TOKEN_LENGTH,
    AskingUser,
    Credentials,
    UserSource,
    user_of,
)
from copilot_admin.copilots.user_tokens import read_key, read_key_set
from copilot_admin.errors import UnknownUser
from tests.jwt_issuer import ec_jwk, ec_key, jwk, key_set, pem, rsa_key, rules, token_of

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


def test_without_settings_for_tokens_nobody_is_named(settings):
    settings.USER_TOKENS = None
    assert asyncio.run(user_of(Credentials(token=token_of()))) is None
