"""Settings for users: what is unsafe or missing ends the process with a line that says what to do."""

from collections.abc import Mapping
import json
from pathlib import Path
from typing import Any

import pytest

from copilot_admin.config.asking_users import (
    ProxyRules,
    TokenRules,
    check_required,
    proxy_rules,
    token_rules,
)
from copilot_admin.config.env import BadSetting, Environment
from copilot_admin.config.key_sets import NoKeys, read_key_set
from copilot_admin.config.networks import networks
from tests.jwt_issuer import ec_jwk, jwk, key_set, pem

GOOD = {
    "COPILOT_USER_JWKS_URL": "https://login.example.com/jwks.json",
    "COPILOT_USER_ISSUER": "https://login.example.com",
    "COPILOT_USER_AUDIENCE": "copilots",
}
SECRET = "a shared secret that nobody guesses, 2026"
KEY = {**GOOD, "COPILOT_USER_JWKS_URL": "", "COPILOT_USER_KEY": SECRET}


def tokens(variables: Mapping[str, str], *, production: bool = True) -> TokenRules | None:
    return token_rules(Environment(variables), production=production)


def test_tokens_are_taken_only_where_there_is_a_key():
    assert tokens({}) is None
    assert tokens(GOOD) == TokenRules(
        algorithms=("RS256",),
        issuer="https://login.example.com",
        audiences=("copilots",),
        leeway=30.0,
        address="https://login.example.com/jwks.json",
    )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COPILOT_USER_LEEWAY_S", "30s"),
        ("COPILOT_USER_TOKENS_OPEN", "maybe"),
        ("COPILOT_USER_TOKEN_HEADER", "a b"),
    ],
)
def test_a_wrong_value_is_told_before_there_is_a_key(name, value):
    with pytest.raises(BadSetting, match=name):
        tokens({name: value})


def test_every_part_of_a_rule_can_be_set():
    rules = tokens(
        {
            **GOOD,
            "COPILOT_USER_ALGORITHMS": "ES256, RS256",
            "COPILOT_USER_AUDIENCE": "copilots, api",
            "COPILOT_USER_LEEWAY_S": "5",
            "COPILOT_USER_TOKEN_HEADER": "X_User-Token",
            "COPILOT_USER_ID_CLAIM": "oid,sub",
            "COPILOT_USER_EMAIL_CLAIM": "upn",
            "COPILOT_USER_NAME_CLAIM": "nick",
            "COPILOT_USER_TOKENS_OPEN": "yes",
        }
    )
    assert rules == TokenRules(
        algorithms=("ES256", "RS256"),
        issuer="https://login.example.com",
        audiences=("copilots", "api"),
        leeway=5.0,
        address="https://login.example.com/jwks.json",
        header="x-user-token",
        id_claims=("oid", "sub"),
        email_claims=("upn",),
        name_claims=("nick",),
        opens=True,
    )


def test_a_key_of_either_kind_is_read_at_the_start(tmp_path: Path):
    shared, public = tokens(KEY), tokens({**KEY, "COPILOT_USER_KEY": pem("one")})
    assert shared is not None
    assert public is not None
    assert shared.algorithms == ("HS256",)
    assert public.algorithms == ("RS256",)
    assert SECRET not in repr(shared)
    file = tmp_path / "jwks.json"
    file.write_bytes(key_set())
    rules = tokens({**KEY, "COPILOT_USER_KEY": "", "COPILOT_USER_JWKS_FILE": str(file)})
    assert rules is not None
    assert rules.keys is not None
    assert list(rules.keys.keys) == [("one", "RS256")]


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        (
            {"COPILOT_USER_ISSUER": "x"},
            "There is no key to check tokens with. Set COPILOT_USER_JWKS_URL, "
            "COPILOT_USER_JWKS_FILE or COPILOT_USER_KEY.",
        ),
        (
            {**GOOD, "COPILOT_USER_KEY": SECRET},
            "Tokens are checked with one key or key set. Keep one of COPILOT_USER_JWKS_URL, "
            "COPILOT_USER_JWKS_FILE or COPILOT_USER_KEY.",
        ),
        *(
            (
                {**GOOD, name: " , "},
                f"{name} is missing: a token made for somebody else would be taken. Set it to "
                "what your tokens have.",
            )
            for name in ("COPILOT_USER_ISSUER", "COPILOT_USER_AUDIENCE")
        ),
        *(
            (
                {**GOOD, "COPILOT_USER_ALGORITHMS": names},
                f"COPILOT_USER_ALGORITHMS names '{wrong}', which is not for public keys. Use some "
                "of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA.",
            )
            for names, wrong in (("none", "none"), ("RS256,HS256", "HS256"), ("rs256", "rs256"))
        ),
        (
            {**KEY, "COPILOT_USER_KEY": pem("one"), "COPILOT_USER_ALGORITHMS": "HS256"},
            "COPILOT_USER_ALGORITHMS names 'HS256', which is not for public keys. Use some "
            "of RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512, EdDSA.",
        ),
        (
            {**KEY, "COPILOT_USER_ALGORITHMS": "RS256"},
            "COPILOT_USER_ALGORITHMS names 'RS256', which is not for a shared secret. Use some "
            "of HS256, HS384, HS512.",
        ),
        (
            {**KEY, "COPILOT_USER_KEY": "s" * 31},
            "COPILOT_USER_KEY: It is shorter than 32 bytes. Use a longer one.",
        ),
        (
            {**KEY, "COPILOT_USER_KEY": "-----BEGIN PRIVATE KEY-----"},
            "COPILOT_USER_KEY: It is a private key. Use the public one, which tokens are checked "
            "with.",
        ),
        (
            {**KEY, "COPILOT_USER_KEY": "-----BEGIN PUBLIC KEY-----"},
            "COPILOT_USER_KEY: It is no key for RS256.",
        ),
        (
            {**GOOD, "COPILOT_USER_JWKS_URL": "login.example.com"},
            "COPILOT_USER_JWKS_URL is no web address. Use https://…/jwks.json.",
        ),
        (
            {**GOOD, "COPILOT_USER_JWKS_URL": "https://["},
            "COPILOT_USER_JWKS_URL is no web address. Use https://…/jwks.json.",
        ),
        (
            {**GOOD, "COPILOT_USER_JWKS_URL": "http://login.example.com"},
            "COPILOT_USER_JWKS_URL is not https: who changes the keys on their way can be anybody.",
        ),
        (
            {**GOOD, "COPILOT_USER_TOKEN_HEADER": "X User"},
            "COPILOT_USER_TOKEN_HEADER is 'x user', which is no name of a header.",
        ),
        (
            {**GOOD, "COPILOT_USER_TOKEN_HEADER": "Authorization"},
            "COPILOT_USER_TOKEN_HEADER is 'authorization', which has another meaning. Use another "
            "header.",
        ),
    ],
)
def test_what_is_unsafe_or_missing_is_one_line(variables: Any, sentence: str):
    with pytest.raises(BadSetting) as caught:
        tokens(variables)
    assert caught.value.sentence == sentence


def test_a_key_set_on_this_machine_or_in_development_needs_no_https():
    for address in ("http://127.0.0.1:8080/k", "http://localhost/k", "http://[::1]/k"):
        assert tokens({**GOOD, "COPILOT_USER_JWKS_URL": address}) is not None
    elsewhere = {**GOOD, "COPILOT_USER_JWKS_URL": "http://keycloak:8080/k"}
    assert tokens(elsewhere, production=False) is not None


def test_a_file_without_a_key_set_is_one_line(tmp_path: Path):
    file = tmp_path / "jwks.json"
    given = {**GOOD, "COPILOT_USER_JWKS_URL": "", "COPILOT_USER_JWKS_FILE": str(file)}
    with pytest.raises(BadSetting, match="which cannot be read: No such file"):
        tokens(given)
    file.write_text("{}")
    with pytest.raises(BadSetting, match="COPILOT_USER_JWKS_FILE: It is no key set"):
        tokens(given)


def test_proxies_are_addresses_with_a_header():
    assert proxy_rules(Environment({})) == ProxyRules()
    rules = proxy_rules(
        Environment(
            {
                "COPILOT_USER_PROXIES": "10.0.0.7, 2001:db8::/32",
                "COPILOT_USER_ID_HEADER": "X-User",
                "COPILOT_USER_EMAIL_HEADER": "X_User-Email",
                "COPILOT_USER_NAME_HEADER": "X-Name",
            }
        )
    )
    assert rules == ProxyRules(
        networks=networks(["10.0.0.7/32", "2001:db8::/32"], setting="X"),
        id_header="x-user",
        email_header="x-user-email",
        name_header="x-name",
    )
    assert rules.headers == ("x-user", "x-user-email", "x-name")
    for given, sentence in (
        (
            {"COPILOT_USER_PROXIES": "nginx"},
            "COPILOT_USER_PROXIES names 'nginx'. Use addresses or networks such as 10.0.0.0/8.",
        ),
        (
            {"COPILOT_USER_PROXIES": "10.0.0.7", "COPILOT_USER_NAME_HEADER": "X-Name"},
            "COPILOT_USER_PROXIES names proxies, but no header in which they name the user. Set "
            "COPILOT_USER_ID_HEADER or COPILOT_USER_EMAIL_HEADER.",
        ),
    ):
        with pytest.raises(BadSetting) as caught:
            proxy_rules(Environment(given))
        assert caught.value.sentence == sentence


def test_users_are_required_only_where_somebody_can_name_them():
    proxies = ProxyRules(networks=networks(["10.0.0.7"], setting="X"), id_header="x-user")
    assert check_required(required=True, tokens=tokens(GOOD), proxies=ProxyRules())
    assert check_required(required=True, tokens=None, proxies=proxies)
    assert not check_required(required=False, tokens=None, proxies=ProxyRules())
    with pytest.raises(BadSetting, match="COPILOT_USER_REQUIRED is on, but nobody may name"):
        check_required(required=True, tokens=None, proxies=ProxyRules(id_header="x-user"))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"\xff", "It is no JSON."),
        (b"[" * 100_000, "It is no JSON."),
        (b"[]", 'It is no key set, which has a list of "keys".'),
        (b'{"keys": {}}', 'It is no key set, which has a list of "keys".'),
        (b'{"keys": [1, null, {}]}', "It has no key for RS256."),
        (key_set(jwk("one", use="enc")), "It has no key for RS256."),
        (key_set(jwk("one", alg="PS256")), "It has no key for RS256."),
        (key_set({**jwk("one"), "kid": 7}), "It has no key for RS256."),
        (key_set(jwk("one", n="!")), "It has no key for RS256."),
        (key_set({"kty": "oct", "k": "c2VjcmV0", "alg": "RS256"}), "It has no key for RS256."),
        (key_set(ec_jwk("e")), "It has no key for RS256."),
    ],
)
def test_a_key_set_without_a_usable_key_is_none(text: bytes, sentence: str):
    with pytest.raises(NoKeys) as caught:
        read_key_set(text, ("RS256",))
    assert str(caught.value) == sentence


def test_a_key_is_bound_to_the_algorithms_it_is_for():
    both = {name: one for name, one in jwk("one").items() if name != "alg"}
    keys = read_key_set(key_set(both, ec_jwk("e"), {"kty": "new"}), ("RS256", "PS256", "ES256"))
    assert sorted(keys.keys) == [("e", "ES256"), ("one", "PS256"), ("one", "RS256")]
    with pytest.raises(NoKeys):
        read_key_set(key_set(ec_jwk("e")), ("ES384",))
    private = json.loads(key_set(jwk("one", d="c2VjcmV0")))
    assert not hasattr(
        read_key_set(json.dumps(private), ("RS256",)).find("one", "RS256"), "private_numbers"
    )
