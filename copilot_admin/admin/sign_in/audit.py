"""Audit entries and log lines of sign-ins."""

import logging
from typing import Any

from allauth.account.signals import password_changed, password_reset
from django.contrib.auth.models import AbstractBaseUser, User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record, record_read
from copilot_admin.models import Action

MARK_LENGTH = 16  # of an unknown name; a username has no colon
_SALT = "copilot_admin.admin.frame.sign_ins"  # stored marks were made with it
logger = logging.getLogger(__name__)


def find_subject(typed: str) -> Subject:
    """Return the account of a name, or a hash of any other text: people type passwords there."""
    account = User.objects.filter(username__iexact=typed).first()
    if account is not None:
        return Subject.of(account)
    mark = salted_hmac(_SALT, typed, algorithm="sha256").hexdigest()
    return Subject("user", "", f"unknown:{mark[:MARK_LENGTH]}")


def describe_attempt(request: HttpRequest, typed: str) -> str:
    return f"account {find_subject(typed).name} from {request.META.get('REMOTE_ADDR')}"


def record_refused_attempt(request: HttpRequest, credentials: dict[str, Any]) -> None:
    """Record an attempt that wasn't checked, at most once in ten minutes in the trail."""
    name = credentials["username"]
    logger.warning("Sign-in refused after too many failures: %s.", describe_attempt(request, name))
    by, on = Actor.of(request), find_subject(name)
    record_read(Action.LOGIN_FAILED, by=by, on=on, after={"locked_out": True})


def record_failure(
    credentials: dict[str, Any], request: HttpRequest | None = None, **_: object
) -> None:
    if request is not None:
        name = credentials["username"]
        logger.warning("Sign-in failed: %s.", describe_attempt(request, name))
        by, on = Actor.of(request), find_subject(name)
        record(Action.LOGIN_FAILED, by=by, on=on, after={"locked_out": False})


def record_sign_in(request: HttpRequest | None, user: AbstractBaseUser, **_: object) -> None:
    if request is not None:
        record(Action.LOGGED_IN, by=Actor.of(request, user), on=Subject.of(user))


def record_sign_out(
    request: HttpRequest | None, user: AbstractBaseUser | None, **_: object
) -> None:
    if request is not None and user is not None:
        record(Action.LOGGED_OUT, by=Actor.of(request, user), on=Subject.of(user))


def record_password_change(request: HttpRequest, user: User, **_: object) -> None:
    record(Action.PASSWORD_CHANGED, by=Actor.of(request, user), on=Subject.of(user))


def record_password_reset(request: HttpRequest, user: User, **_: object) -> None:
    by, on = Actor.of(request, user), Subject.of(user)
    record(Action.PASSWORD_CHANGED, by=by, on=on, after={"by": "mail"})


user_logged_in.connect(record_sign_in, dispatch_uid="copilot_admin.audit.logged_in")
user_logged_out.connect(record_sign_out, dispatch_uid="copilot_admin.audit.logged_out")
user_login_failed.connect(record_failure, dispatch_uid="copilot_admin.audit.login_failed")
password_changed.connect(record_password_change, dispatch_uid="copilot_admin.password_changed")
password_reset.connect(record_password_reset, dispatch_uid="copilot_admin.password_reset")
