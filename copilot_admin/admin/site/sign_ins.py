"""Sign-in page and its audit entries."""

from http import HTTPStatus
import logging
from typing import Any

from axes.signals import user_locked_out
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from copilot_admin.admin.logins.sign_in_limits import client_address, counted_address, counted_name
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record, record_read
from copilot_admin.http.errors import skip_request_log
from copilot_admin.models import Action

logger = logging.getLogger(__name__)


__all__ = ["client_address", "counted_address", "counted_name", "locked_out"]


def locked_out(
    request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """The answer to an attempt that is not looked at, which has a line of ours in the log."""
    answer = render(request, "locked_out.html", status=HTTPStatus.TOO_MANY_REQUESTS)
    answer["Retry-After"] = str(int(settings.AXES_COOLOFF_TIME.total_seconds()))
    return skip_request_log(answer)


def log_lockout(
    request: HttpRequest, username: str | None, ip_address: str | None, **_: object
) -> None:
    """Leaves one line for each attempt that is refused."""
    logger.warning(
        "Log-in refused after too many failures: account %s from %s.", username, ip_address
    )


user_locked_out.connect(log_lockout, dispatch_uid="copilot_admin.log_lockout")


def logged_in(request: HttpRequest | None, user: AbstractBaseUser, **_: object) -> None:
    """Notes in the audit trail that somebody logged in."""
    if request is not None:
        record(Action.LOGGED_IN, by=Actor.of(request, user), on=Subject.of(user))


def logged_out(request: HttpRequest | None, user: AbstractBaseUser | None, **_: object) -> None:
    """A log-out; the session that ends is still that of the request."""
    if request is not None and user is not None:
        record(Action.LOGGED_OUT, by=Actor.of(request, user), on=Subject.of(user))


def login_failed(
    credentials: dict[str, Any], request: HttpRequest | None = None, **_: object
) -> None:
    """A log-in that failed; what was typed is told only where it is the name of an account.

    Attempts that are not even looked at are told once in ten minutes: they have no bound.
    """
    if request is None:
        return
    name = counted_name(request, credentials)
    account = User.objects.filter(username=name).first()
    on = Subject.of(account) if account else Subject("user", "", name)
    is_refused = bool(getattr(request, "axes_locked_out", False))
    if not is_refused:  # which has a line of its own
        logger.warning("Log-in failed: account %s from %s.", name, client_address(request))
    add = record_read if is_refused else record
    add(Action.LOGIN_FAILED, by=Actor.of(request), on=on, after={"locked_out": is_refused})


def password_changed(request: HttpRequest) -> None:
    """Somebody changed his own password."""
    if isinstance(request.user, User):
        by, on = Actor.of(request), Subject.of(request.user)
        record(Action.PASSWORD_CHANGED, by=by, on=on)


user_logged_in.connect(logged_in, dispatch_uid="copilot_admin.audit.logged_in")
user_logged_out.connect(logged_out, dispatch_uid="copilot_admin.audit.logged_out")
user_login_failed.connect(login_failed, dispatch_uid="copilot_admin.audit.login_failed")
