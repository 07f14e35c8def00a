"""The door: what a request says of who sends it, and which user that is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from django.conf import settings

from copilot_admin.copilots.checked_tokens import CHECKED
from copilot_admin.copilots.fetched_keys import FetchedKeys
from copilot_admin.copilots.token_rules import TokenRules
from copilot_admin.copilots.tokens import UnknownKey, is_token
from copilot_admin.copilots.users import AskingUser, ProxyWords, user_of_headers

BEARER = "bearer"
_HEADERS = ("Authorization", "X-API-Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """Credentials of a request, unchecked.

    Attributes:
        key: The endpoint key.
        token: Of the user.
        words: What a trusted proxy says of the user.
    """

    key: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    words: ProxyWords | None = None


def headers_read() -> tuple[str, ...]:
    """The headers in which a client says who it is: what is shown to it depends on them."""
    rules: TokenRules | None = settings.USER_TOKENS
    return (*_HEADERS, rules.header) if rules and rules.header else _HEADERS


def credentials_in(headers: Mapping[str, str], words: ProxyWords | None = None) -> Credentials:
    """Credentials of a request.

    Args:
        headers: Of the request; looked up without regard to case.
        words: What a trusted proxy says.
    """
    rules: TokenRules | None = settings.USER_TOKENS
    scheme, _, rest = headers.get("Authorization", "").partition(" ")
    bearer = rest.strip() if scheme.lower() == BEARER else None
    token = headers.get(rules.header) if rules and rules.header else None
    if rules and bearer is not None and is_token(bearer):
        token, bearer = token or bearer, None
    key = headers.get("X-API-Key") if bearer is None else bearer
    return Credentials(key=key, token=token, words=words)


async def user_of(credentials: Credentials) -> AskingUser | None:
    """The user who asks; None: nobody names one. A token counts more than a proxy.

    Raises:
        UnknownUser: The token, or what the proxy says, is not to be believed.
        Unavailable: The keys to check tokens with cannot be had.
    """
    rules: TokenRules | None = settings.USER_TOKENS
    if credentials.token is not None and rules is not None:
        return await _user_of_token(credentials.token.strip(), rules)
    return user_of_headers(credentials.words) if credentials.words else None


async def _user_of_token(token: str, rules: TokenRules) -> AskingUser:
    keys = rules.keys
    if keys is not None:
        return CHECKED.user_of(token, keys=keys, rules=rules)
    fetched = _fetched_keys(rules.jwks_url, rules.algorithms)
    try:
        return CHECKED.user_of(token, keys=await fetched.current(), rules=rules)
    except UnknownKey:
        newer = await fetched.newer()
        if newer is None:
            raise
    return CHECKED.user_of(token, keys=newer, rules=rules)


@lru_cache(maxsize=16)
def _fetched_keys(address: str, algorithms: tuple[str, ...]) -> FetchedKeys:
    return FetchedKeys(address, algorithms)
