"""End users: the user that a token, a trusted proxy or the admin names.

Source: RFC 7519, RFC 8725
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
import hashlib
import hmac
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
import jwt

from copilot_admin.copilots.user_tokens import JwksClient, TokenRules, UserIdDisclosure, find_key
from copilot_admin.errors import UnknownUser

MAX_LENGTH = 254  # characters of an id, an e-mail address or a name: the longest e-mail address
MAX_TOKEN_LENGTH = 16 * 1024  # characters; a token with the groups of a large firm has some 5,000
HASH_DIGITS = 32
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


class UserSource(StrEnum):
    TOKEN = "token"  # noqa: S105  # a word, not a secret
    PROXY = "proxy"
    ADMIN = "admin"  # a builder who tests a draft, named by their session


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingUser:
    """User of a copilot, as a token, proxy or session names them; only `id` is never empty."""

    id: str
    email: str = ""
    name: str = ""
    source: UserSource = UserSource.TOKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyHeaders:
    """Headers of a trusted proxy that name the user: each header's raw values."""

    ids: Sequence[bytes] = ()
    emails: Sequence[bytes] = ()
    names: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Unchecked credentials of a request: API key, token of the user, proxy headers."""

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
    kid, algorithm = _read_token_header(token, rules)
    if rules.keys is not None:
        key = find_key(rules.keys, kid, algorithm)
    else:
        key = await get_jwks_client(rules.jwks_url, rules.algorithms).find_key(kid, algorithm)
    if key is None:
        raise UnknownUser(f"The token is signed with a key that is not known. {_SIGN_IN}")
    claims = _verify(token, key, algorithm, rules)
    user_id = _find_text(claims, rules.id_claims)
    if not user_id:
        names = " or ".join(rules.id_claims)
        raise UnknownUser(f"The token does not say who asks: it has no {names}.")
    return AskingUser(
        id=_check_id(user_id, "The token"),
        email=_clean(_find_text(claims, rules.email_claims)),
        name=_clean(_find_text(claims, rules.name_claims)),
        source=UserSource.TOKEN,
    )


@lru_cache(maxsize=16)
def get_jwks_client(url: str, algorithms: tuple[str, ...]) -> JwksClient:
    return JwksClient(url, algorithms)


def user_of_headers(headers: ProxyHeaders) -> AskingUser | None:
    """Return the user that a trusted proxy names, if any; without an id the e-mail is the id."""
    user_id, email, name = map(_read_header, (headers.ids, headers.emails, headers.names))
    if not user_id and not email:
        return None
    return AskingUser(
        id=_check_id(user_id or email.casefold(), "The proxy"),
        email=_clean(email),
        name=_clean(name),
        source=UserSource.PROXY,
    )


def user_of_admin(user: AbstractBaseUser | AnonymousUser) -> AskingUser | None:
    """Return a builder as the user of the copilot that they try; None if nobody is signed in."""
    user_id = user.get_username().strip()[:MAX_LENGTH]
    if not user_id or not user_id.isprintable():
        return None
    full_name = user.get_full_name() if hasattr(user, "get_full_name") else ""
    return AskingUser(
        id=user_id,
        email=_clean(getattr(user, "email", "")),
        name=_clean(full_name),
        source=UserSource.ADMIN,
    )


def named(user: AskingUser | None, naming: UserIdDisclosure) -> str:
    """Name of a user for the log; "" if it may not be disclosed."""
    if user is None or naming is UserIdDisclosure.NONE:
        return ""
    return user.id if naming is UserIdDisclosure.PLAIN else hashed(user.id)


def hashed(user_id: str) -> str:
    """Keyed hash of a user's id, which can be recomputed with the database."""
    key = hashlib.sha256(b"end-user:" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, user_id.encode(), hashlib.sha256).hexdigest()[:HASH_DIGITS]


def _read_token_header(token: str, rules: TokenRules) -> tuple[str | None, str]:
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


def _find_text(claims: Mapping[str, Any], names: Sequence[str]) -> str:
    values = (claims.get(name) for name in names)
    texts = (str(one).strip() for one in values if isinstance(one, str) or type(one) is int)
    return next(filter(None, texts), "")


def _read_header(values: Sequence[bytes]) -> str:
    if len(values) > 1:
        raise UnknownUser("A header that names the user came more than once. Ask an operator.")
    value = b"".join(values)
    try:
        return value.decode().strip()
    except UnicodeDecodeError:
        return value.decode("latin-1").strip()


def _check_id(text: str, sender: str) -> str:
    if len(text) > MAX_LENGTH:
        raise UnknownUser(f"{sender} names its user in more than {MAX_LENGTH} characters.")
    if not text.isprintable():
        raise UnknownUser(f"{sender} names its user with characters that cannot be seen.")
    return text


def _clean(text: str) -> str:
    printable = "".join(sign if sign.isprintable() else " " for sign in text)
    return " ".join(printable.split())[:MAX_LENGTH]
