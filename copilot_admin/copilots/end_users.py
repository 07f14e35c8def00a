"""End users: the user that a token, a trusted proxy or the admin names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
import hashlib
import hmac
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from copilot_admin.copilots.user_tokens import TokenRules, UserIdDisclosure
from copilot_admin.errors import UnknownUser

MAX_LENGTH = 254  # characters of an id, an e-mail address or a name: the longest e-mail address
HASH_DIGITS = 32


class UserSource(StrEnum):
    """Authority that names a user."""

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


def user_of_claims(claims: Mapping[str, Any], rules: TokenRules) -> AskingUser:
    """Return the user of a verified token.

    Raises:
        UnknownUser: It has no usable id.
    """
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


def user_of_headers(headers: ProxyHeaders) -> AskingUser | None:
    """Return the user that a trusted proxy names, if any; without an id the e-mail is the id.

    Raises:
        UnknownUser: Several users are named, or one with an invalid id.
    """
    user_id, email, name = (
        _read_header(one) for one in (headers.ids, headers.emails, headers.names)
    )
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
    bounded = text[: 4 * MAX_LENGTH]
    printable = "".join(sign if sign.isprintable() else " " for sign in bounded)
    return " ".join(printable.split())[:MAX_LENGTH]
