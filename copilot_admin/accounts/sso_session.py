"""Validity of sessions that began with SSO."""

from collections.abc import Mapping
import time
from typing import Any

from django.conf import settings

from copilot_admin.config.sso import SsoSettings

KEY = "firm"  # in the session
OIDC = "oidc"


def sso_session_age(at: float) -> float:
    """Return the seconds since the identity provider was last asked."""
    return time.time() - at


def is_sso_session_valid(session: Mapping[str, Any] | Any) -> bool:
    """Return whether a session is still valid; one that began with a password always is."""
    sso = session.get(KEY)
    if not isinstance(sso, dict):
        return True
    configured: SsoSettings = settings.SSO
    if sso["source"] == OIDC:
        return (
            configured.oidc.is_configured
            and sso_session_age(sso["at"]) <= configured.oidc.minutes * 60
        )
    return configured.proxy.is_configured
