"""Key sets that check the tokens of users."""

import json

import pytest

from copilot_admin.copilots.key_sets import InvalidKeySet, read_key_set
from tests.jwt_issuer import ec_jwk, jwk, key_set

NOT_JWKS = 'It is not a JWKS document: {"keys": [...]}.'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"\xff", NOT_JWKS),
        (b"[" * 100_000, NOT_JWKS),
        (b"[]", NOT_JWKS),
        (b'{"keys": {}}', NOT_JWKS),
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
    with pytest.raises(InvalidKeySet) as caught:
        read_key_set(text, ("RS256",))
    assert str(caught.value) == sentence


def test_a_key_is_bound_to_the_algorithms_it_is_for():
    both = {name: one for name, one in jwk("one").items() if name != "alg"}
    keys = read_key_set(key_set(both, ec_jwk("e"), {"kty": "new"}), ("RS256", "PS256", "ES256"))
    assert sorted(keys.keys) == [("e", "ES256"), ("one", "PS256"), ("one", "RS256")]
    with pytest.raises(InvalidKeySet):
        read_key_set(key_set(ec_jwk("e")), ("ES384",))
    private = json.loads(key_set(jwk("one", d="c2VjcmV0")))
    assert not hasattr(
        read_key_set(json.dumps(private), ("RS256",)).find("one", "RS256"), "private_numbers"
    )
