"""Settings of end users: tokens that name them, the keys of these tokens, and trusted proxies.

Each key is bound to one algorithm of the allow-list when it is read, never to what a token says.
Source: RFC 7517, RFC 8725 (2.1, 3.1)
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
import json
import logging
from pathlib import Path
from time import monotonic
from typing import Any, Self
from urllib.parse import urlsplit

import jwt
from pydantic import Field, SecretStr, model_validator

from copilot_admin.agent.fetching.egress import Egress, Fetch, FetchFailed
from copilot_admin.config.variables import (
    Group,
    HttpUrl,
    IdentityHeader,
    NetworkList,
    SecretText,
    StringList,
    find_missing,
)
from copilot_admin.errors import Unavailable

MIN_SHARED_SECRET_BYTES = 32  # for HS256: RFC 7518, 3.2
SHARED_ALGORITHMS = ("HS256", "HS384", "HS512")
PUBLIC_ALGORITHMS = (
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
)  # fmt: skip
CURVES = {"ES256": "P-256", "ES384": "P-384", "ES512": "P-521"}
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


class UserIdDisclosure(StrEnum):
    """How providers, logs and traces name a user; a hash can't be reversed without SECRET_KEY."""

    NONE = "none"
    HASHED = "hashed"
    PLAIN = "plain"


def find_key(keys: KeySet, kid: str | None, algorithm: str) -> Any | None:
    """Return the key that a token names; a token without a name may mean the only key."""
    if kid is not None and (kid, algorithm) in keys:
        return keys[kid, algorithm]
    if kid is not None and any(name for name, _ in keys):
        return None
    possible = [key for (_, one), key in keys.items() if one == algorithm]
    return possible[0] if len(possible) == 1 else None


def read_key_set(text: str | bytes, algorithms: Iterable[str]) -> KeySet:
    """Parse a JWKS document, without encryption keys and keys of other algorithms."""
    try:
        listed = list(json.loads(text)["keys"])
    except (ValueError, TypeError, LookupError, RecursionError):
        raise ValueError('It is not a JWKS document: {"keys": [...]}.') from None
    return {
        (jwk.get("kid", ""), algorithm): key
        for jwk in listed
        if isinstance(jwk, dict) and isinstance(jwk.get("kid", ""), str)
        for algorithm in algorithms
        if (key := _read_jwk(jwk, algorithm)) is not None
    }


def _read_jwk(jwk: Mapping[str, Any], algorithm: str) -> Any | None:
    curve = jwk.get("crv")
    if jwk.get("use", "sig") != "sig" or jwk.get("alg", algorithm) != algorithm:
        return None
    if CURVES.get(algorithm, curve) != curve:  # PyJWT takes any curve for any of the algorithms
        return None
    public = {name: value for name, value in jwk.items() if name != "d"}
    try:
        return jwt.PyJWK.from_dict(public, algorithm).key
    except _INVALID_KEY:
        return None


def read_key(text: str, algorithms: Iterable[str]) -> KeySet:
    """Return a key set of one unnamed key: a public key in PEM, or a shared secret."""
    keys = {}
    for algorithm in algorithms:
        try:
            keys["", algorithm] = jwt.get_algorithm_by_name(algorithm).prepare_key(text)
        except _INVALID_KEY:
            raise ValueError(f"It is not a key for {algorithm}.") from None
    return keys


class TokenRules(Group):
    """Requirements for tokens of users; `keys` is None if the key set is fetched."""

    jwks_url: HttpUrl = Field("", validation_alias="COPILOT_USER_JWKS_URL")
    jwks_file: str = Field("", validation_alias="COPILOT_USER_JWKS_FILE")
    key: SecretText = Field(SecretStr(""), validation_alias="COPILOT_USER_KEY")
    algorithms: StringList = Field((), validation_alias="COPILOT_USER_ALGORITHMS")
    issuer: str = Field("", validation_alias="COPILOT_USER_ISSUER")
    audiences: StringList = Field((), validation_alias="COPILOT_USER_AUDIENCE")
    leeway: float = Field(30, validation_alias="COPILOT_USER_LEEWAY_S", ge=0, le=600)
    header: IdentityHeader = Field("", validation_alias="COPILOT_USER_TOKEN_HEADER")
    id_claims: StringList = Field(("sub",), validation_alias="COPILOT_USER_ID_CLAIM")
    email_claims: StringList = Field(("email",), validation_alias="COPILOT_USER_EMAIL_CLAIM")
    name_claims: StringList = Field(("name",), validation_alias="COPILOT_USER_NAME_CLAIM")
    opens: bool = Field(False, validation_alias="COPILOT_USER_TOKENS_OPEN")
    keys: KeySet | None = Field(None, repr=False)

    @property
    def is_configured(self) -> bool:
        return bool(self.jwks_url or self.jwks_file or self.key)

    @model_validator(mode="after")
    def _load_keys(self) -> Self:
        if self.keys is not None:
            return self
        key = self.key.get_secret_value()
        is_shared = bool(key) and "-----BEGIN" not in key
        self.algorithms = self.algorithms or (("HS256",) if is_shared else ("RS256",))
        # A shared secret and public keys never share an allow-list (RFC 8725, 3.1).
        allowed = SHARED_ALGORITHMS if is_shared else PUBLIC_ALGORITHMS
        if not set(self.algorithms).issubset(allowed):
            raise ValueError(f"COPILOT_USER_ALGORITHMS: use some of {', '.join(allowed)}.")
        if is_shared and len(key.encode()) < MIN_SHARED_SECRET_BYTES:
            raise ValueError(f"COPILOT_USER_KEY: use at least {MIN_SHARED_SECRET_BYTES} bytes.")
        if "PRIVATE KEY" in key:
            raise ValueError("COPILOT_USER_KEY is a private key. Use the public key.")
        try:
            if key:
                self.keys = read_key(key, self.algorithms)
            elif self.jwks_file:
                self.keys = read_key_set(Path(self.jwks_file).read_bytes(), self.algorithms)
                if not self.keys:
                    raise ValueError(f"It has no key for {', '.join(self.algorithms)}.")
        except (OSError, ValueError) as error:
            variable = "COPILOT_USER_KEY" if key else f"COPILOT_USER_JWKS_FILE={self.jwks_file}"
            raise ValueError(f"{variable}: {getattr(error, 'strerror', None) or error}") from None
        return self

    def find_problems(self) -> Iterator[str]:
        if len(list(filter(None, (self.jwks_url, self.jwks_file, self.key)))) > 1:
            names = "COPILOT_USER_JWKS_URL, COPILOT_USER_JWKS_FILE and COPILOT_USER_KEY"
            yield f"Tokens are checked with one key or key set. Keep one of {names}."
        yield from find_missing(
            COPILOT_USER_ISSUER=self.issuer,
            COPILOT_USER_AUDIENCE=self.audiences,
            COPILOT_USER_JWKS_URL=self.is_configured,
        )


class ProxyRules(Group):
    """The proxies that may name the user, and the headers in which they do."""

    networks: NetworkList = Field((), validation_alias="COPILOT_USER_PROXIES")
    id_header: IdentityHeader = Field("", validation_alias="COPILOT_USER_ID_HEADER")
    email_header: IdentityHeader = Field("", validation_alias="COPILOT_USER_EMAIL_HEADER")
    name_header: IdentityHeader = Field("", validation_alias="COPILOT_USER_NAME_HEADER")

    @property
    def headers(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.id_header, self.email_header, self.name_header)))


class JwksClient:
    """Fetches the key set behind a URL; known keys stay valid while the issuer is away.

    PyJWT's own client would bypass the egress policy and block the event loop.
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
        host = urlsplit(url).hostname or ""
        options: dict[str, Any] = {"seconds": FETCH_TIMEOUT_SECONDS, "most_bytes": MAX_BYTES}
        self._fetch = fetch or Egress((host,), keeps_https=True, **options).fetch
        self._keys: KeySet | None = None
        self._fetched_at = float("-inf")
        self._lock = asyncio.Lock()

    async def find_key(self, kid: str | None, algorithm: str) -> Any | None:
        """Return the key of a token; an unknown one is looked for in a newer key set.

        Raises:
            Unavailable: There are no keys, and they can't be fetched.
        """
        key = find_key(await self.get_keys(), kid, algorithm)
        return key or find_key(await self.get_keys(MIN_REFRESH_SECONDS), kid, algorithm)

    async def get_keys(self, max_age: float = LIFETIME_SECONDS) -> KeySet:
        """Return the keys, fetched again if they are old; raise `Unavailable` without any."""
        await self._refresh(max_age if self._keys is not None else RETRY_SECONDS)
        if self._keys is None:
            raise Unavailable(
                "Users cannot be recognised at the moment, because the keys of their issuer can't be "
                "fetched. Ask again in a few seconds.",
                code="no-user-keys",
            )
        return self._keys

    async def _refresh(self, max_age: float) -> None:
        if self._clock() - self._fetched_at < max_age:
            return
        async with self._lock:
            if self._clock() - self._fetched_at < max_age:  # fetched by another request meanwhile
                return
            try:
                async with self._fetch(self._url) as body:
                    keys = read_key_set(body, self._algorithms)
                if not keys:
                    logger.warning("the JWKS of users has no key for %s", self._algorithms)
                # Keys may be withdrawn; an issuer that never had a key means a wrong setting.
                self._keys = keys if keys or self._keys is not None else None
            except (FetchFailed, ValueError) as error:
                detail = error.detail if isinstance(error, FetchFailed) else error
                logger.warning("the JWKS of users could not be fetched: %s", detail)
            self._fetched_at = self._clock()
