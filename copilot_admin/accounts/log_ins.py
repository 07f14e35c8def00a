"""Where people are logged in: noted at each log-in, shown, and ended."""

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

SEEN_SECONDS = 60  # as exact as "last seen" is
KEPT_DAYS = 30  # of what nobody uses any more
SWEPT_AT_ONCE = 500  # sessions: a few milliseconds, every few seconds
KEY = "log_in"  # in the session: the id of its row


def note_log_in(sender: object, request: HttpRequest | None, user: object, **_: object) -> None:
    """Keeps where somebody logged in."""
    if request is None or not isinstance(user, User) or not hasattr(request, "session"):
        return
    if request.session.session_key is None:
        request.session.save()
    key = request.session.session_key or ""
    LogIn.objects.filter(last_seen__lt=timezone.now() - timedelta(days=KEPT_DAYS)).delete()
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
    _is_due(row.pk)


def note_log_out(sender: object, request: HttpRequest | None, user: object, **_: object) -> None:
    """Forgets where somebody was logged in."""
    key = getattr(getattr(request, "session", None), "session_key", None)
    if key:
        LogIn.objects.filter(session_key=key).delete()


def note_seen(request: HttpRequest) -> None:
    """Notes once a minute that a browser is still used."""
    number = request.session.get(KEY)
    if number is not None and _is_due(number):
        rows = LogIn.objects.filter(pk=number, user_id=request.user.pk or 0)
        rows.update(last_seen=timezone.now())


def follow_session(request: HttpRequest) -> None:
    """Notes the key that a session was given anew, as a new password gives it one."""
    number, user = request.session.get(KEY), request.user
    if number is not None and isinstance(user, User):
        LogIn.objects.filter(pk=number, user_id=user.pk).update(
            session_key=request.session.session_key, session_hash=user.get_session_auth_hash()
        )


def log_ins_of(user: User) -> QuerySet[LogIn]:
    """Where somebody is logged in now; what a new password or time has ended is not among it."""
    alive = Session.objects.filter(expire_date__gt=timezone.now()).values("session_key")
    return LogIn.objects.filter(
        user=user, session_hash=user.get_session_auth_hash(), session_key__in=alive
    )


def end(log_ins: QuerySet[LogIn]) -> int:
    """Ends log-ins: the next request of each browser is a stranger's."""
    rows = list(log_ins.values_list("pk", "session_key"))
    for _pk, key in rows:
        _session(key).delete()
    LogIn.objects.filter(pk__in=[pk for pk, _key in rows]).delete()
    return len(rows)


def end_all_of(user: User, *, but: str | None = None) -> int:
    """Ends all log-ins of somebody, but for one session."""
    return end(LogIn.objects.filter(user=user).exclude(session_key=but or ""))


def sweep_sessions() -> int:
    """Deletes some sessions whose time is up, also those of log-ins that were begun and left; writes.

    Returns:
        How many went.
    """
    over = Session.objects.filter(expire_date__lt=timezone.now()).order_by("expire_date")
    keys = list(over.values_list("pk", flat=True)[:SWEPT_AT_ONCE])
    return Session.objects.filter(pk__in=keys).delete()[0] if keys else 0


def device_words(device: str) -> str:
    """A browser and its system in a few words; the whole of it where nothing is known."""
    browsers = ("Edg", "OPR", "Firefox", "Chrome", "Safari", "curl", "python")
    systems = ("Windows", "Android", "iPhone", "iPad", "Mac OS", "Linux")
    names = {"Edg": "Edge", "OPR": "Opera", "Mac OS": "macOS", "python": "Python"}
    browser = next((names.get(one, one) for one in browsers if one in device), "")
    system = next((names.get(one, one) for one in systems if one in device), "")
    return ", ".join(filter(None, (browser, system))) or device[:60]


def _is_due(number: int) -> bool:
    digest = hashlib.sha256(f"log-in {number}".encode()).hexdigest()[:32]
    return bool(cache.add(f"log-in-seen:{digest}", 1, SEEN_SECONDS))


def _session(key: str) -> SessionBase:
    store: type[SessionBase] = import_module(settings.SESSION_ENGINE).SessionStore
    return store(key)


def _printable(text: str) -> str:
    return "".join(one for one in text[:MAX_DEVICE_LENGTH] if one.isprintable())


user_logged_in.connect(note_log_in, dispatch_uid="copilot_admin.note_log_in")
user_logged_out.connect(note_log_out, dispatch_uid="copilot_admin.note_log_out")
