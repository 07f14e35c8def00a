"""Credentials of a request, and verification of the token that names its end user.

Source: RFC 7519, RFC 8725
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from django.conf import settings
import jwt

from copilot_admin.copilots.end_users import (
    AskingUser,
    ProxyHeaders,
    user_of_claims,
    user_of_headers,
)
from copilot_admin.copilots.jwks import JwksClient, KeySet, find_key
from copilot_admin.copilots.user_tokens import TokenRules
from copilot_admin.errors import UnknownUser

MAX_TOKEN_LENGTH = 16 * 1024  # characters; a token with the groups of a large firm has some 5,000
_HEADERS = ("Authorization", "X-API-Key")
_SIGN_IN = "Sign in again, or ask an operator."
# PyJWT lets some errors of json and of numbers through.
_UNREADABLE = (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError)
_REASONS: Mapping[type[Exception], str] = {
    jwt.ExpiredSignatureError: "it has expired",
    jwt.ImmatureSignatureError: "it is not valid yet",
    jwt.InvalidAudienceError: "it was made for another service",
    jwt.InvalidIssuerError: "it comes from another issuer",
    jwt.InvalidSignatureError: "its signature is wrong",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Unchecked credentials of a request.

    Attributes:
        key: The endpoint key.
        token: Of the user.
        proxy_headers: Headers of a trusted proxy that name the user.
    """

    key: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    proxy_headers: ProxyHeaders | None = None


def headers_read() -> tuple[str, ...]:
    """Return the headers that identify a client: responses vary on them."""
    rules: TokenRules | None = settings.USER_TOKENS
    return (*_HEADERS, rules.header) if rules and rules.header else _HEADERS


def credentials_in(
    headers: Mapping[str, str], proxy_headers: ProxyHeaders | None = None
) -> Credentials:
    """Return the credentials in headers, which are looked up case-insensitively."""
    rules: TokenRules | None = settings.USER_TOKENS
    scheme, _, rest = headers.get("Authorization", "").partition(" ")
    bearer = rest.strip() if scheme.lower() == "bearer" else None
    token = headers.get(rules.header) if rules and rules.header else None
    if rules and bearer is not None and bearer.count(".") == 2:
        token, bearer = token or bearer, None
    key = headers.get("X-API-Key") if bearer is None else bearer
    return Credentials(key=key, token=token, proxy_headers=proxy_headers)


async def user_of(credentials: Credentials) -> AskingUser | None:
    """Return the end user, if one is named; a token takes precedence over a proxy.

    Raises:
        UnknownUser: The token or the proxy's headers are not valid.
        Unavailable: The keys that verify tokens can't be fetched.
    """
    rules: TokenRules | None = settings.USER_TOKENS
    if credentials.token is None or rules is None:
        return user_of_headers(credentials.proxy_headers) if credentials.proxy_headers else None
    token = credentials.token.strip()
    kid, algorithm = _read_header(token, rules)
    if rules.keys is not None:
        key = find_key(rules.keys, kid, algorithm)
    else:
        client = get_jwks_client(rules.jwks_url, rules.algorithms)
        keys: KeySet = await client.get_keys()
        key = find_key(keys, kid, algorithm)
        if key is None:
            key = find_key(await client.get_newer_keys(), kid, algorithm)
    if key is None:
        raise UnknownUser(f"The token is signed with a key that is not known. {_SIGN_IN}")
    return user_of_claims(_verify(token, key, algorithm, rules), rules)


@lru_cache(maxsize=16)
def get_jwks_client(url: str, algorithms: tuple[str, ...]) -> JwksClient:
    """Return the client of a key set, which caches its keys."""
    return JwksClient(url, algorithms)


def _read_header(token: str, rules: TokenRules) -> tuple[str | None, str]:
    if len(token) > MAX_TOKEN_LENGTH:
        raise UnknownUser(f"The token is longer than {MAX_TOKEN_LENGTH} characters. {_SIGN_IN}")
    try:
        header = jwt.get_unverified_header(token)
    except _UNREADABLE as error:
        raise UnknownUser(f"The token is not a JWT. {_SIGN_IN}") from error
    algorithm = header.get("alg")
    if algorithm not in rules.algorithms:
        allowed = ", ".join(rules.algorithms)
        raise UnknownUser(f"The token is not signed with {allowed}. {_SIGN_IN}")
    return header.get("kid"), algorithm


def _verify(token: str, key: Any, algorithm: str, rules: TokenRules) -> Mapping[str, Any]:
    try:
        return jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=rules.audiences,
            issuer=rules.issuer,
            leeway=rules.leeway,
            options={
                "require": ["exp", "iss", "aud"],
                "enforce_minimum_key_length": True,
                "verify_sub": False,  # the setting says which claim names the user
                "verify_jti": False,
            },
        )
    except jwt.MissingRequiredClaimError as error:
        raise UnknownUser(f"The token has no {error.claim}. {_SIGN_IN}") from error
    except _UNREADABLE as error:
        reason = _REASONS.get(type(error), "it cannot be read")
        raise UnknownUser(f"The token is not accepted: {reason}. {_SIGN_IN}") from error
