"""Where a provider of OpenID Connect has what: read from its own document, and kept for a while.

Source: https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderConfig
"""

from dataclasses import dataclass
from threading import Lock
import time
from typing import Any
from urllib.parse import urlsplit

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from copilot_admin.admin.logins.oidc_http import json_of
from copilot_admin.admin.logins.unreached import SILENT, why_unreached
from copilot_admin.config.sso import OidcProvider
from copilot_admin.errors import Unavailable

KEPT_SECONDS = 600.0
# So long one that does not answer is not asked again: who waits for it holds up the pages of others.
LEFT_ALONE_SECONDS = 3.0
# So long the others wait while one asks: each holds a thread, and a provider that answers is faster.
PATIENCE_SECONDS = 1.0
DOCUMENT = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """The addresses of a provider; `issuer` exactly as it writes it."""

    issuer: str
    authorization: str
    token: str
    keys: str
    userinfo: str = ""
    end_session: str = ""


_found: dict[str, tuple[float, Endpoints]] = {}
_silent: dict[str, tuple[float, Promise]] = {}  # issuers, when they could not be asked, and why
_turn = Lock()  # to ask


def endpoints_of(provider: OidcProvider) -> Endpoints:
    """The addresses of a provider.

    Raises:
        Unavailable: It does not answer, or says something else than it has to.
    """
    kept = _found.get(provider.issuer)
    if kept is not None and time.monotonic() - kept[0] < KEPT_SECONDS:
        return kept[1]
    if not _turn.acquire(timeout=0 if kept else PATIENCE_SECONDS):
        if kept is not None:  # somebody asks for a newer one
            return kept[1]
        raise Unavailable(str(SILENT))
    try:
        return _asked(provider)
    finally:
        _turn.release()


def forget() -> None:
    """Lets the next log-in ask again."""
    _found.clear()
    _silent.clear()


def _asked(provider: OidcProvider) -> Endpoints:
    now = time.monotonic()
    kept = _found.get(provider.issuer)
    if kept is not None and now - kept[0] < KEPT_SECONDS:
        return kept[1]
    silent = _silent.get(provider.issuer)
    if silent is not None and now - silent[0] < LEFT_ALONE_SECONDS:
        raise Unavailable(str(silent[1]))
    found = _read(provider)
    _found[provider.issuer] = (now, found)
    return found


def _read(provider: OidcProvider) -> Endpoints:
    try:
        said = json_of("GET", f"{provider.issuer}{DOCUMENT}")
    except (OSError, ValueError) as error:  # requests' own are of the system as well
        why = why_unreached(error)
        _silent[provider.issuer] = (time.monotonic(), why)
        raise Unavailable(str(why)) from error
    issuer = said.get("issuer") if isinstance(said, dict) else None
    if not isinstance(issuer, str) or issuer.rstrip("/") != provider.issuer:
        raise Unavailable(
            _("Your firm's log-in is another one than COPILOT_OIDC_ISSUER names. Tell an operator.")
        )
    return Endpoints(
        issuer=issuer,
        authorization=_address(said, "authorization_endpoint", provider),
        token=_address(said, "token_endpoint", provider),
        keys=_address(said, "jwks_uri", provider),
        userinfo=_address(said, "userinfo_endpoint", provider, needed=False),
        end_session=_address(said, "end_session_endpoint", provider, needed=False),
    )


def _address(
    said: dict[str, Any], name: str, provider: OidcProvider, *, needed: bool = True
) -> str:
    value = said.get(name)
    schemes = ("https",) if provider.issuer.startswith("https:") else ("http", "https")
    if isinstance(value, str) and _is_address(value, schemes):
        return value
    if needed:
        raise Unavailable(
            _("Your firm's log-in names no usable %(name)s. Tell an operator.") % {"name": name}
        )
    return ""


def _is_address(text: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:  # such as brackets that do not close
        return False
    return parts.scheme in schemes and bool(parts.hostname)
