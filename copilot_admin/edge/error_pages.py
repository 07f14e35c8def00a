"""The pages for what breaks: what will work again in a moment is told apart from a fault."""

import logging
import sys

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from copilot_admin.errors import Unavailable
from copilot_admin.storage.damage import is_damage, note_damage
from copilot_admin.storage.database_thread import is_outage
from copilot_admin.storage.full_disk import is_no_room

RETRY_AFTER_SECONDS = 5

logger = logging.getLogger(__name__)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`; the templates ask the database nothing, as it may be what is down."""
    error = sys.exc_info()[1]
    if error is None or not (isinstance(error, Unavailable) or will_pass(error)):
        return HttpResponse(render_to_string("500.html"), status=500)
    return unavailable_page(error)


def will_pass(error: BaseException) -> bool:
    """Whether a page broke because the database or the disk takes nothing at the moment."""
    return is_outage(error) or is_no_room(error)


def unavailable_page(error: BaseException) -> HttpResponse:
    """Says what is not there; reads nothing from the database, not even who is asking."""
    logger.error("a page could not be shown: %s", type(error).__name__)
    damaged = is_damage(error)
    if damaged:
        note_damage(error)
    about = {"damaged": damaged, "is_no_room": is_no_room(error)}
    page = render_to_string("503.html", about)
    seconds = error.retry_after if isinstance(error, Unavailable) else RETRY_AFTER_SECONDS
    headers = {"Retry-After": str(seconds), "Cache-Control": "no-store"}
    return HttpResponse(page, status=503, headers=headers)
