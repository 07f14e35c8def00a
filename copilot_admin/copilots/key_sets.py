"""Public keys (JWKS or PEM) and shared secrets that check the tokens of end users.

Each key is bound to one algorithm of the allow-list when it is read, never to what a token says.
Source: RFC 7517, RFC 8725 (2.1, 3.1)
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
import json
from typing import Any

import jwt

SHARED_ALGORITHMS = ("HS256", "HS384", "HS512")
PUBLIC_ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
CURVES: Mapping[str, str] = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
MAX_KEYS = 200  # in a set; identity providers have two or three
_INVALID_KEY = (jwt.PyJWTError, ValueError, TypeError)


class InvalidKeySet(ValueError):
    """The text holds no usable key; the message says why."""


class EmptyKeySet(InvalidKeySet):
    """The key set has no key for the allowed algorithms."""


@dataclass(frozen=True, slots=True)
class KeySet:
    """Keys by name (`kid`, "" if a key has none) and algorithm."""

    keys: Mapping[tuple[str, str], Any] = field(repr=False)

    def find(self, kid: str | None, algorithm: str) -> Any | None:
        """Return the key that a token names; a token without a name may mean the only key."""
        if kid is not None and (kid, algorithm) in self.keys:
            return self.keys[kid, algorithm]
        if kid is not None and any(name for name, _ in self.keys):
            return None
        possible = [key for (_, one), key in self.keys.items() if one == algorithm]
        return possible[0] if len(possible) == 1 else None


def read_key_set(text: str | bytes, algorithms: Iterable[str]) -> KeySet:
    """Parse a JWKS document, without encryption keys and keys of other algorithms.

    Raises:
        EmptyKeySet: No key is left.
        InvalidKeySet: It is not a JWKS document.
    """
    try:
        listed = json.loads(text)["keys"][:MAX_KEYS]
    except (ValueError, TypeError, LookupError, RecursionError):
        raise InvalidKeySet('It is not a JWKS document: {"keys": [...]}.') from None
    allowed = tuple(algorithms)
    keys = {
        (jwk.get("kid", ""), algorithm): key
        for jwk in listed
        if isinstance(jwk, dict) and isinstance(jwk.get("kid", ""), str)
        for algorithm in allowed
        if (key := _read_jwk(jwk, algorithm)) is not None
    }
    if not keys:
        raise EmptyKeySet(f"It has no key for {', '.join(allowed)}.")
    return KeySet(keys)


def read_key(text: str, algorithms: Iterable[str]) -> KeySet:
    """Return a key set of one unnamed key: a public key in PEM, or a shared secret.

    Raises:
        InvalidKeySet: It is not a key for one of the algorithms.
    """
    keys = {}
    for algorithm in algorithms:
        try:
            keys["", algorithm] = jwt.get_algorithm_by_name(algorithm).prepare_key(text)
        except _INVALID_KEY:
            raise InvalidKeySet(f"It is not a key for {algorithm}.") from None
    return KeySet(keys)


def _read_jwk(jwk: Mapping[str, Any], algorithm: str) -> Any | None:
    curve = jwk.get("crv")
    if jwk.get("use", "sig") != "sig" or jwk.get("alg", algorithm) != algorithm:
        return None
    if CURVES.get(algorithm, curve) != curve:
        return None
    public = {name: value for name, value in jwk.items() if name != "d"}
    try:
        return jwt.PyJWK.from_dict(public, algorithm).key
    except _INVALID_KEY:
        return None
