"""Whose log-in an attempt is, as failures are counted and told by it."""

from typing import Any

from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from copilot_admin.admin.logins.addresses import client_address

MARK_LENGTH = 16  # of a name that is no account's; a user name has no colon
_SALT = "copilot_admin.admin.frame.login"  # marks that are kept were made with it


def counted_name(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """What failures are counted by and logged with: the account, or the mark of a name that is none.

    Whoever types a password into the wrong field has it neither in the log nor in the database.
    """
    typed = str((credentials or request.POST).get("username") or "")
    if User.objects.filter(username=typed).exists():
        return typed
    mark = salted_hmac(_SALT, typed, algorithm="sha256").hexdigest()
    return f"unknown:{mark[:MARK_LENGTH]}"


def attempt_words(request: HttpRequest) -> str:
    """Of which account a log-in is, and from where, for a line of the log."""
    return f"a log-in of account {counted_name(request)} from {client_address(request)}"
