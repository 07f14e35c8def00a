"""Public keys (JWKS or PEM) and shared secrets that check the tokens of end users.

Each key is bound to one algorithm of the allow-list when it is read, never to what a token says.
Source: RFC 7517, RFC 8725 (2.1, 3.1)
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
import json
import logging
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import jwt

from copilot_admin.agent.fetching.egress import Egress, Fetch, FetchFailed
from copilot_admin.errors import Unavailable

SHARED_ALGORITHMS = ("HS256", "HS384", "HS512")
PUBLIC_ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
CURVES: Mapping[str, str] = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
MAX_KEYS = 200  # in a set; identity providers have two or three
FETCH_TIMEOUT_SECONDS = 5.0  # a question may wait for it
MAX_BYTES = 1024 * 1024
LIFETIME_SECONDS = 10 * 60.0
# Between fetches for tokens with unknown keys: inventing keys must not flood the issuer.
MIN_REFRESH_SECONDS = 60.0
RETRY_SECONDS = 5.0  # while there are no keys at all
_INVALID_KEY = (jwt.PyJWTError, ValueError, TypeError)
logger = logging.getLogger(__name__)

# Keys by name (`kid`, "" if a key has none) and algorithm.
KeySet = Mapping[tuple[str, str], Any]


class InvalidKeySet(ValueError):
    """The text holds no usable key; the message says why."""


class EmptyKeySet(InvalidKeySet):
    """The key set has no key for the allowed algorithms."""


def find_key(keys: KeySet, kid: str | None, algorithm: str) -> Any | None:
    """Return the key that a token names; a token without a name may mean the only key."""
    if kid is not None and (kid, algorithm) in keys:
        return keys[kid, algorithm]
    if kid is not None and any(name for name, _ in keys):
        return None
    possible = [key for (_, one), key in keys.items() if one == algorithm]
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
    return keys


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
    return keys


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


class JwksClient:
    """Fetches the key set behind a URL; known keys stay valid while the issuer is away.

    Args:
        url: Of the key set.
        algorithms: That are allowed.
        fetch: Returns the bytes behind a URL; None: a guarded client for this host only.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        url: str,
        algorithms: tuple[str, ...],
        *,
        fetch: Fetch | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._url, self._algorithms, self._clock = url, algorithms, clock
        self._fetch = fetch or _make_egress(url)
        self._keys: KeySet | None = None
        self._fetched_at: float | None = None
        self._lock = asyncio.Lock()

    async def get_keys(self) -> KeySet:
        """Return the keys, fetched again if they are old.

        Raises:
            Unavailable: There are none, and they can't be fetched.
        """
        await self._refresh(LIFETIME_SECONDS if self._keys is not None else RETRY_SECONDS)
        if self._keys is None:
            raise Unavailable(
                "Users cannot be recognised at the moment, because the keys of their issuer can't be "
                "fetched. Ask again in a few seconds.",
                code="no-user-keys",
            )
        return self._keys

    async def get_newer_keys(self) -> KeySet:
        """Return the keys for a token whose key is unknown, fetched again unless just done."""
        await self._refresh(MIN_REFRESH_SECONDS)
        return self._keys or {}

    async def _refresh(self, min_age: float) -> None:
        if not self._is_older(min_age):
            return
        async with self._lock:
            if self._is_older(min_age):  # than before another request fetched them
                await self._fetch_keys()
                self._fetched_at = self._clock()

    def _is_older(self, seconds: float) -> bool:
        return self._fetched_at is None or self._clock() - self._fetched_at >= seconds

    async def _fetch_keys(self) -> None:
        try:
            async with self._fetch(self._url) as body:
                self._keys = read_key_set(body, self._algorithms)
        except EmptyKeySet as error:
            # Keys may be withdrawn; an issuer that never had a key means a wrong setting.
            self._keys = {} if self._keys is not None else None
            logger.warning("the JWKS of users has no usable key: %s", error)
        except (FetchFailed, InvalidKeySet) as error:
            detail = error.detail if isinstance(error, FetchFailed) else error
            logger.warning("the JWKS of users could not be fetched: %s", detail)


def _make_egress(url: str) -> Fetch:
    host = urlsplit(url).hostname or ""
    return Egress(
        (host,), seconds=FETCH_TIMEOUT_SECONDS, most_bytes=MAX_BYTES, keeps_https=True
    ).fetch
