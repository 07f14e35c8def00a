"""Browser sessions of people: recorded at sign-in, listed, and ended."""

from datetime import timedelta
import hashlib
from importlib import import_module

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out
from django.contrib.sessions.backends.base import SessionBase
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from copilot_admin.models import LogIn
from copilot_admin.models.access import MAX_DEVICE_LENGTH

LAST_SEEN_INTERVAL_SECONDS = 60
RETENTION_DAYS = 30  # of sessions that nobody uses
MAX_DELETED_PER_CALL = 500  # a few milliseconds
KEY = "log_in"  # in the session: the id of its row


def record_sign_in(sender: object, request: HttpRequest | None, user: object, **_: object) -> None:
    """Record a sign-in (receiver of `user_logged_in`)."""
    if request is None or not isinstance(user, User) or not hasattr(request, "session"):
        return
    if request.session.session_key is None:
        request.session.save()
    key = request.session.session_key or ""
    LogIn.objects.filter(last_seen__lt=timezone.now() - timedelta(days=RETENTION_DAYS)).delete()
    now = timezone.now()
    row = LogIn.objects.create(
        user=user,
        session_key=key,
        session_hash=user.get_session_auth_hash(),
        device=_printable(request.META.get("HTTP_USER_AGENT", "")),
        address=_printable(request.META.get("REMOTE_ADDR") or "")[:64],
        since=now,
        last_seen=now,
    )
    request.session[KEY] = row.pk
    _should_update_last_seen(row.pk)


def delete_session_record(
    sender: object, request: HttpRequest | None, user: object, **_: object
) -> None:
    """Delete the record of a session (receiver of `user_logged_out`)."""
    key = getattr(getattr(request, "session", None), "session_key", None)
    if key:
        LogIn.objects.filter(session_key=key).delete()


def touch_session(request: HttpRequest) -> None:
    """Update the time a session was last seen, at most once a minute."""
    number = request.session.get(KEY)
    if number is not None and _should_update_last_seen(number):
        rows = LogIn.objects.filter(pk=number, user_id=request.user.pk or 0)
        rows.update(last_seen=timezone.now())


def update_session_key(request: HttpRequest) -> None:
    """Store the new key that a changed password gave a session."""
    number, user = request.session.get(KEY), request.user
    if number is not None and isinstance(user, User):
        LogIn.objects.filter(pk=number, user_id=user.pk).update(
            session_key=request.session.session_key, session_hash=user.get_session_auth_hash()
        )


def active_sessions(user: User) -> QuerySet[LogIn]:
    """Return the sessions of a user that are neither expired nor ended by a new password."""
    alive = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    return LogIn.objects.filter(
        user=user, session_hash=user.get_session_auth_hash(), session_key__in=alive
    )


def end_sessions(log_ins: QuerySet[LogIn]) -> int:
    """End sessions and return their number."""
    rows = list(log_ins.values_list("pk", "session_key"))
    for _pk, key in rows:
        _session(key).delete()
    LogIn.objects.filter(pk__in=[pk for pk, _key in rows]).delete()
    return len(rows)


def end_all_sessions(user: User, *, but: str | None = None) -> int:
    """End all sessions of a user except one."""
    return end_sessions(LogIn.objects.filter(user=user).exclude(session_key=but or ""))


def delete_expired_sessions() -> int:
    """Delete a batch of expired sessions and return their number."""
    over = Session.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
    keys = list(over.values_list("pk", flat=True)[:MAX_DELETED_PER_CALL])
    return Session.objects.filter(pk__in=keys).delete()[0] if keys else 0


def describe_device(device: str) -> str:
    """Return browser and system of a User-Agent header, or its start if they are unknown."""
    browsers = ("Edg", "OPR", "Firefox", "Chrome", "Safari", "curl", "python")
    systems = ("Windows", "Android", "iPhone", "iPad", "Mac OS", "Linux")
    names = {"Edg": "Edge", "OPR": "Opera", "Mac OS": "macOS", "python": "Python"}
    browser = next((names.get(one, one) for one in browsers if one in device), "")
    system = next((names.get(one, one) for one in systems if one in device), "")
    return ", ".join(filter(None, (browser, system))) or device[:60]


def _should_update_last_seen(number: int) -> bool:
    digest = hashlib.sha256(f"log-in {number}".encode()).hexdigest()[:32]
    return bool(cache.add(f"log-in-seen:{digest}", 1, LAST_SEEN_INTERVAL_SECONDS))


def _session(key: str) -> SessionBase:
    store: type[SessionBase] = import_module(settings.SESSION_ENGINE).SessionStore
    return store(key)


def _printable(text: str) -> str:
    return "".join(one for one in text[:MAX_DEVICE_LENGTH] if one.isprintable())


user_logged_in.connect(record_sign_in, dispatch_uid="copilot_admin.record_sign_in")
user_logged_out.connect(delete_session_record, dispatch_uid="copilot_admin.delete_session_record")
