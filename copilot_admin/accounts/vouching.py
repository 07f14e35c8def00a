"""How long the firm's log-in vouches for a session."""

from collections.abc import Mapping
import time
from typing import Any

from django.conf import settings

from copilot_admin.config.sso import SsoSettings

KEY = "firm"  # in the session
OIDC = "oidc"


def age_of(at: float) -> float:
    """The seconds since somebody was vouched for; a clock that was set back vouches for nobody."""
    age = time.time() - at
    return age if age >= -1 else float("inf")


def is_vouched_for(session: Mapping[str, Any] | Any) -> bool:
    """Whether a session still counts; one that began with a password always does."""
    kept = session.get(KEY)
    if not isinstance(kept, dict):
        return True
    firm: SsoSettings = settings.SSO
    if kept["source"] == OIDC:
        return firm.oidc.is_configured and age_of(kept["at"]) <= firm.oidc.minutes * 60
    return firm.proxy.is_configured
