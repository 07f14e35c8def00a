"""A limited number of failed log-ins, for an account and for an address."""

import logging
from typing import Any

from axes.signals import user_locked_out
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.crypto import salted_hmac

from copilot_admin.admin.logins.addresses import client_address

__all__ = ["client_address", "counted_name", "locked_out"]

MARK_LENGTH = 16  # of a name that is no account's; a user name has no colon

logger = logging.getLogger(__name__)


def counted_name(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """What failures are counted by and logged with: the account, or the mark of a name that is none.

    Whoever types a password into the wrong field has it neither in the log nor in the database.
    """
    typed = str((credentials or request.POST).get("username") or "")
    if User.objects.filter(username=typed).exists():
        return typed
    mark = salted_hmac("copilot_admin.admin.frame.login", typed, algorithm="sha256").hexdigest()
    return f"unknown:{mark[:MARK_LENGTH]}"


def locked_out(
    request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """The answer to an attempt that is not looked at."""
    return render(request, "locked_out.html", status=429)


def log_lockout(
    request: HttpRequest, username: str | None, ip_address: str | None, **_: object
) -> None:
    """Leaves one line for each attempt that is refused."""
    logger.warning(
        "Log-in refused after too many failures: account %s from %s.", username, ip_address
    )


user_locked_out.connect(log_lockout, dispatch_uid="copilot_admin.log_lockout")
