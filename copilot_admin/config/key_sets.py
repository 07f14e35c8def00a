"""The keys by which tokens are checked: made of a key set (JWKS), of PEM or of a shared secret.

Each key is bound to one algorithm of the allow-list when it is read, never to what a token says.
Source: RFC 7517, RFC 8725 (2.1, 3.1)
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
import json
from typing import Any

import jwt

# Of each family of algorithms, the kind of key that it takes.
KINDS: Mapping[str, str] = {"RS": "RSA", "PS": "RSA", "ES": "EC", "Ed": "OKP"}
SHARED = ("HS256", "HS384", "HS512")
PUBLIC = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
CURVES: Mapping[str, str] = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
MOST_KEYS = 200  # of a set; issuers have two or three
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_NO_KEY = (jwt.PyJWTError, ValueError, TypeError)


class NoKeys(ValueError):
    """What was read holds no key that can be used; the text says why."""


class EmptyKeySet(NoKeys):
    """What was read is a key set, and it has none of the keys that are wanted."""


@dataclass(frozen=True, slots=True)
class KeySet:
    """Keys by their name (`kid`; "" where one has none) and their algorithm."""

    keys: Mapping[tuple[str, str], Any] = field(repr=False)

    def find(self, kid: str | None, algorithm: str) -> Any | None:
        """The key that a token names; one that names none may mean the only key there is."""
        if kid is not None and (kid, algorithm) in self.keys:
            return self.keys[kid, algorithm]
        if kid is not None and any(name for name, _ in self.keys):
            return None
        possible = [key for (_, one), key in self.keys.items() if one == algorithm]
        return possible[0] if len(possible) == 1 else None


def read_key_set(text: str | bytes, algorithms: Iterable[str]) -> KeySet:
    """The keys of a JWKS document; keys of other kinds, and those to encrypt with, are left out.

    Raises:
        EmptyKeySet: None of its keys is for these algorithms.
        NoKeys: It is no such document.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise NoKeys("It is no JSON.") from error
    listed = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(listed, list):
        raise NoKeys('It is no key set, which has a list of "keys".')
    usable = [one for one in listed[:MOST_KEYS] if isinstance(one, dict)]
    allowed = tuple(algorithms)
    keys = dict(chain.from_iterable(_keys(one, allowed) for one in usable))
    if not keys:
        raise EmptyKeySet(f"It has no key for {', '.join(allowed)}.")
    return KeySet(keys)


def read_key(text: str, algorithms: Iterable[str]) -> KeySet:
    """One key without a name: a public key in PEM, or a shared secret.

    Raises:
        NoKeys: It is no such key.
    """
    keys = {}
    for algorithm in algorithms:
        try:
            prepared = jwt.get_algorithm_by_name(algorithm).prepare_key(text)
        except _NO_KEY as error:
            raise NoKeys(f"It is no key for {algorithm}.") from error
        keys["", algorithm] = prepared
    return KeySet(keys)


def _keys(said: Mapping[str, Any], allowed: Iterable[str]) -> Iterator[tuple[tuple[str, str], Any]]:
    """A key of a set, once for each algorithm that it may be used with."""
    kid = said.get("kid", "")
    if said.get("use", "sig") != "sig" or not isinstance(kid, str):
        return
    public = {name: value for name, value in said.items() if name not in _PRIVATE}
    for algorithm in allowed:
        if KINDS.get(algorithm[:2]) != said.get("kty"):
            continue
        if said.get("alg", algorithm) != algorithm:
            continue
        if said.get("crv") != CURVES.get(algorithm, said.get("crv")):
            continue
        try:
            key = jwt.PyJWK.from_dict(public, algorithm).key
        except _NO_KEY:
            continue
        yield (kid, algorithm), key
