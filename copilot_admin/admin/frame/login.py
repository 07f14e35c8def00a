"""Logging in: one at a time, and a limited number of failures for an account and for an address."""

from ipaddress import IPv6Address, ip_address, ip_network
import logging
from typing import Any

from axes.signals import user_locked_out
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.crypto import salted_hmac

from copilot_admin.config.passwords import hashing_alone

NETWORK_BITS = 64  # one line of one household has all addresses of such a network
MARK_LENGTH = 16  # of a name that is no account's; a user name has no colon

logger = logging.getLogger(__name__)


class LoginForm(AdminAuthenticationForm):
    """The stock form; attempts that come at once are counted one after the other."""

    def clean(self) -> dict[str, Any]:
        """Checks name and password, unless too many were wrong."""
        with hashing_alone():
            return super().clean()


def client_address(request: HttpRequest) -> str | None:
    """Where a log-in comes from; uvicorn has looked through the proxies that it trusts.

    Addresses of IPv6 count by their network, else one machine has as many as it likes.
    """
    text = request.META.get("REMOTE_ADDR")
    try:
        address = ip_address(text or "")
    except ValueError:  # a socket of this machine, or Django's test client
        return None
    if isinstance(address, IPv6Address):
        return str(ip_network((int(address), NETWORK_BITS), strict=False).network_address)
    return str(address)


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
