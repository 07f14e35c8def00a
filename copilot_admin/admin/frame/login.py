"""A limited number of failed log-ins, for an account and for an address."""

from http import HTTPStatus
import logging
from typing import Any

from axes.signals import user_locked_out
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from copilot_admin.admin.logins.addresses import client_address, counted_address
from copilot_admin.admin.logins.attempts import counted_name
from copilot_admin.http.errors import skip_request_log

__all__ = ["client_address", "counted_address", "counted_name", "locked_out"]

logger = logging.getLogger(__name__)


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
