"""Browser sessions: recorded at sign-in, limited in time, listed and ended; accounts in commands."""

import sys
import time
from typing import Any

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils import timezone

from copilot_admin.audit.recording import Actor, Subject, record, snapshot
from copilot_admin.config.sso import SsoSettings
from copilot_admin.models import Action

LAST_SEEN_INTERVAL_SECONDS = 60
# Keys in the session
BEGAN = "began"  # when the user signed in
SEEN = "seen"  # when the last page was opened, to the minute
SSO = "sso"  # the source of a single sign-on, and what ends it
OIDC = "oidc"
PROXY = "proxy"
# Pages record their own changes; these commands know nothing of the audit trail.
AUDITED_COMMANDS = {
    "createsuperuser": Action.ADDED,
    "changepassword": Action.PASSWORD_CHANGED,
    "shell": Action.CHANGED,
}


def record_sign_in(sender: object, request: HttpRequest | None, user: object, **_: object) -> None:
    """Record a session (receiver of `user_logged_in`)."""
    if request is None or not isinstance(user, User) or not hasattr(request, "session"):
        return
    request.session.set_expiry(None)
    request.session[BEGAN] = request.session[SEEN] = time.time()
    UserSession.objects.create_from_request(request, user=user)


def end_sessions_of_disabled_user(instance: User, **_: object) -> None:
    """End all sessions of a user who may no longer sign in (receiver of `post_save`)."""
    if not (instance.is_active and instance.is_staff):
        end_sessions(instance)


def touch_session(request: HttpRequest) -> None:
    """Restart the idle time of a session, at most once a minute."""
    now = time.time()
    if now - request.session.get(SEEN, 0) >= LAST_SEEN_INTERVAL_SECONDS:
        request.session[SEEN] = now
        rows = UserSession.objects.filter(session_key=request.session.session_key)
        rows.update(last_seen_at=timezone.now())


def is_session_valid(session: SessionBase) -> bool:
    """Return whether the session of a signed-in user is young enough and its source is still used."""
    sso: SsoSettings = settings.SSO
    age = time.time() - float(session.get(BEGAN, 0))
    source = get_sso_source(session)
    if source == OIDC:
        return sso.oidc.is_configured and age <= sso.oidc.session_minutes * 60
    if source == PROXY and not sso.proxy.is_configured:
        return False
    max_age: int = settings.SESSION_MAX_SECONDS
    return age <= max_age


def get_sso_source(session: SessionBase) -> str:
    """Return `oidc`, `proxy`, or an empty text for a password."""
    sso: dict[str, Any] = session.get(SSO) or {}
    return str(sso.get("source", ""))


def end_sessions(user: User, *, except_key: str | None = None, pk: str = "") -> int:
    """End the sessions of a user, all except one or a single one, and return their number."""
    rows = UserSession.objects.filter(user=user).exclude(session_key=except_key or "")
    found = [row for row in rows if pk in ("", str(row.pk))]
    for row in found:
        row.end()
    return len(found)


def delete_expired_sessions() -> int:
    """Delete expired sessions with their records, and return their number."""
    number, _ = Session.objects.filter(expire_date__lt=timezone.now()).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("pk")).delete()
    return number


def describe_device(user_agent: str) -> str:
    """Return browser and system of a User-Agent header, such as "Firefox, Windows"."""
    browsers = ("Edg", "OPR", "Firefox", "Chrome", "Safari")
    systems = ("Android", "iPhone", "iPad", "Windows", "Mac OS X", "Linux")
    names = {"Edg": "Edge", "OPR": "Opera", "Mac OS X": "macOS"}
    browser = next((names.get(one, one) for one in browsers if f"{one}/" in user_agent), "")
    system = next((names.get(one, one) for one in systems if one in user_agent), "")
    return ", ".join(filter(None, (browser, system))) or user_agent[:60]


user_logged_in.connect(record_sign_in, dispatch_uid="copilot_admin.record_sign_in")


def record_account_change(instance: User, *, created: bool, **_signal: Any) -> None:
    """Record that a management command saved an account (receiver of `post_save`)."""
    action = AUDITED_COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if action is not None:
        after = snapshot(instance) if created else {"by": "command"}
        record(action, by=Actor.command(), on=Subject.of(instance), after=after)
