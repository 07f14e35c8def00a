"""The pages for what breaks: what will work again in a moment is told apart from a fault."""

import sys

from django import db
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from copilot_admin.errors import Unavailable

RETRY_AFTER_SECONDS = 5


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`; the templates ask the database nothing, as it may be what is down."""
    error = sys.exc_info()[1]
    if not isinstance(error, Unavailable | db.OperationalError | db.InterfaceError):
        return HttpResponse(render_to_string("500.html"), status=500)
    seconds = error.retry_after if isinstance(error, Unavailable) else RETRY_AFTER_SECONDS
    page = render_to_string("503.html")
    return HttpResponse(page, status=503, headers={"Retry-After": str(seconds)})
