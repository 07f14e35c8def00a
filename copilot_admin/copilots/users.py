"""End users: the user that a token, a trusted proxy or the admin names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
import hashlib
import hmac
from typing import Any
import unicodedata

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

from copilot_admin.copilots.token_rules import TokenRules, UserIdDisclosure
from copilot_admin.errors import UnknownUser

LONGEST = 254  # characters of an id, an e-mail address or a name: the longest address
_INVISIBLE = ("Cc", "Cf", "Cs", "Zl", "Zp")  # control, also of writing directions; line separators
# Other signs of which nothing is seen, by the letters that they count as.
# Source: Default_Ignorable_Code_Point of https://www.unicode.org/Public/UCD/latest/ucd/, and the
# empty pattern of Braille.
_UNSEEN = frozenset(
    map(
        chr,
        (
            *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0xFE00, 0xFE10),
            *range(0xE0000, 0xE1000),
        ),
    )
)


class UserSource(StrEnum):
    """Who says who the user is."""

    TOKEN = "token"  # noqa: S105  # a word, not a secret
    PROXY = "proxy"
    ADMIN = "admin"  # a builder who tests a draft, named by their session


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingUser:
    """User of a copilot, as a token, proxy or session names them.

    Attributes:
        id: What tells users apart; never "".
        email: "" if it is not known.
        name: For people; "" if it is not known.
        source: Who vouches for him.
    """

    id: str
    email: str = ""
    name: str = ""
    source: UserSource = UserSource.TOKEN


@dataclass(frozen=True, slots=True, kw_only=True)
class ProxyWords:
    """What a trusted proxy put into the headers that name a user: each header's values, raw."""

    ids: Sequence[bytes] = ()
    emails: Sequence[bytes] = ()
    names: Sequence[bytes] = ()


def user_of_claims(claims: Mapping[str, Any], rules: TokenRules) -> AskingUser:
    """The user of a token that was checked.

    Raises:
        UnknownUser: It has no id that can be used.
    """
    user_id = _first_text(claims, rules.id_claims)
    if not user_id:
        names = " or ".join(rules.id_claims)
        raise UnknownUser(f"The token does not say who asks: it has no {names}.")
    return AskingUser(
        id=_checked_id(user_id, "The token"),
        email=_shown(_first_text(claims, rules.email_claims)),
        name=_shown(_first_text(claims, rules.name_claims)),
        source=UserSource.TOKEN,
    )


def user_of_headers(words: ProxyWords) -> AskingUser | None:
    """The user that a trusted proxy names; None: it names nobody. Without an id the e-mail is it.

    Raises:
        UnknownUser: Several users are named, or none that can be one.
    """
    given = [_only(values) for values in (words.ids, words.emails, words.names)]
    user_id, email, name = given
    if not user_id and not email:
        return None
    return AskingUser(
        id=_checked_id(user_id or email.casefold(), "The proxy"),
        email=_shown(email),
        name=_shown(name),
        source=UserSource.PROXY,
    )


def user_of_admin(user: AbstractBaseUser | AnonymousUser) -> AskingUser | None:
    """A builder who tries a copilot, as its user; None: nobody is logged in."""
    user_id = user.get_username().strip()[:LONGEST]
    if not user_id or not _is_id(user_id):
        return None
    full_name = user.get_full_name() if hasattr(user, "get_full_name") else ""
    return AskingUser(
        id=user_id,
        email=_shown(getattr(user, "email", "")),
        name=_shown(full_name),
        source=UserSource.ADMIN,
    )


def _first_text(claims: Mapping[str, Any], names: Sequence[str]) -> str:
    values = (claims.get(name) for name in names)
    texts = (str(one) for one in values if isinstance(one, str) or type(one) is int)
    return next(filter(None, map(str.strip, texts)), "")


def _only(values: Sequence[bytes]) -> str:
    if len(values) > 1:
        raise UnknownUser("A header that names the user came more than once. Ask an operator.")
    if not values:
        return ""
    try:
        return values[0].decode().strip()
    except UnicodeDecodeError:
        return values[0].decode("latin-1").strip()


def _checked_id(text: str, who: str) -> str:
    if len(text) > LONGEST:
        raise UnknownUser(f"{who} names its user in more than {LONGEST} characters.")
    if not _is_id(text):
        raise UnknownUser(f"{who} names its user with characters that cannot be seen.")
    return text


def _is_id(text: str) -> bool:
    return (text.isascii() and text.isprintable()) or not any(map(_cannot_be_told, text))


def _shown(text: str) -> str:
    bounded = text[: 4 * LONGEST]
    if not (bounded.isascii() and bounded.isprintable()):
        bounded = "".join(" " if _is_invisible(one) else one for one in bounded)
    return " ".join(bounded.split())[:LONGEST]


def _cannot_be_told(character: str) -> bool:
    is_other_blank = character != " " and unicodedata.category(character) == "Zs"
    return _is_invisible(character) or is_other_blank or character in _UNSEEN


def _is_invisible(character: str) -> bool:
    return unicodedata.category(character) in _INVISIBLE


HASH_DIGITS = 32


def named(user: AskingUser | None, naming: UserIdDisclosure) -> str:
    """Name of a user for the log; "" if it may not be disclosed."""
    if user is None or naming is UserIdDisclosure.NONE:
        return ""
    return user.id if naming is UserIdDisclosure.PLAIN else hashed(user.id)


def hashed(user_id: str) -> str:
    """Keyed hash of a user's id, which can be recomputed with the database."""
    key = hashlib.sha256(b"end-user:" + settings.SECRET_KEY.encode()).digest()
    return hmac.new(key, user_id.encode(), hashlib.sha256).hexdigest()[:HASH_DIGITS]
