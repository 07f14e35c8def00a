"""The pages for what breaks: what will work again in a moment is told apart from a fault."""

from contextlib import suppress
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
import logging
import sys
from traceback import walk_tb

from django.conf import settings
from django.core.exceptions import (
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.template.loader import render_to_string
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop
from django.views.defaults import page_not_found

from copilot_admin.errors import (
    BodyTooLarge,
    Conflict,
    InternalError,
    MalformedBody,
    NotFound,
    RequestError,
    Unavailable,
)
from copilot_admin.http.asgi_types import error_body, is_api, when_again
from copilot_admin.http.put_off import PUT_OFFS
from copilot_admin.http.request_ids import request_id_of
from copilot_admin.storage.errors import (
    DatabaseUnavailable,
    WriteConflict,
    is_disk_full,
    is_outage,
)

RETRY_AFTER_SECONDS = 5

_TOO_MUCH_TEXT = gettext_noop(
    "The texts in the form are longer than the {} KB that are read of one; in texts with emoji and "
    "very many quotes it is a part of that. Write less into it."
)
_TOO_MANY_FIELDS = gettext_noop(
    "The form has more than the {} fields that are read of one. Send fewer at once."
)
_NOTHING_HERE = "There is nothing at this address. Check the path of the request."
_BROKEN = "Something broke on the server. It has been recorded; please ask again."
_NOT_UNDERSTOOD = "The request was not understood. Check the client."
_TOO_MANY_FILES = gettext_noop(
    "The form has more than the {} files that are read of one. Send fewer at once."
)

_NUL_IN_FORM = gettext_noop("The form has a NUL character in it, which no text has. Leave it out.")

_GOES_ON = CO_COROUTINE | CO_GENERATOR | CO_ASYNC_GENERATOR

logger = logging.getLogger(__name__)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's `handler400`; says of a form that is too large what is too much in it."""
    _let_go_of_what_was_sent(exception)
    if isinstance(exception, RequestDataTooBig):
        return _refused(request, BodyTooLarge(_(_TOO_MUCH_TEXT).format(_form_kb())))
    if isinstance(exception, TooManyFieldsSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
        return _refused(request, BodyTooLarge(_(_TOO_MANY_FIELDS).format(most)))
    if isinstance(exception, TooManyFilesSent):
        most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
        return _refused(request, BodyTooLarge(_(_TOO_MANY_FILES).format(most)))
    if is_api(request.path_info):
        return _refused(request, MalformedBody(_NOT_UNDERSTOOD, code="malformed-request"))
    return HttpResponse(render_to_string("400.html"), status=400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's `handler404`; programs are told in their own words."""
    if is_api(request.path_info):
        return _refused(request, NotFound(_NOTHING_HERE))
    with suppress(SuspiciousOperation, MultiPartParserError):
        len(
            request.POST
        )  # the page looks for a token in it, and one that cannot be read is empty then
    return page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's `handler500`; the templates ask the database nothing, as it may be what is down."""
    error = sys.exc_info()[1]
    passes = error is not None and (isinstance(error, Unavailable) or will_pass(error))
    if is_api(request.path_info):
        return (
            _put_off(request, error)
            if error and passes
            else _refused(request, InternalError(_BROKEN))
        )
    if error is None or not passes:
        return HttpResponse(render_to_string("500.html"), status=500)
    return unavailable_page(error)


def _put_off(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Tells a program to come again; that is foreseen, so it leaves no traceback."""
    told = Unavailable(DatabaseUnavailable().public)
    told.__cause__ = error
    PUT_OFFS.note(told)
    return logged_already(_refused(request, told))


def will_pass(error: BaseException) -> bool:
    """Whether a page broke because database, disk or system give or take nothing at the moment."""
    return is_outage(error) or is_disk_full(error)


def unavailable_page(error: BaseException) -> HttpResponse:
    """Says what is not there, and leaves one line in the log.

    Reads nothing from the database, not even who is asking.
    """
    _log_unavailable(error)
    page = render_to_string("503.html", {"is_disk_full": is_disk_full(error)})
    seconds = error.retry_after if isinstance(error, Unavailable) else RETRY_AFTER_SECONDS
    headers = {"Retry-After": str(seconds), "Cache-Control": "no-store"}
    response = HttpResponse(page, status=503, headers=headers)
    return logged_already(response)


def logged_already(response: HttpResponse) -> HttpResponse:
    """An answer of which Django writes no line: there is one that says more."""
    response._has_been_logged = True  # type: ignore[attr-defined]  # there is no public way
    return response


def _log_unavailable(error: BaseException) -> None:
    """Who has to wait for his turn is no fault; the notes of the error say whose turn it is."""
    if not isinstance(error, Unavailable):
        # The message may contain the database's address or password.
        logger.error("a page could not be shown: %s", type(error).__name__)
        return
    notes: list[str] = getattr(error, "__notes__", [])
    logger.warning("a page was put off: %s", "; ".join([error.public, *notes]))


def nul_page(request: HttpRequest) -> HttpResponse:
    """Says of a form what the database will not take of it."""
    return _refused(request, MalformedBody(_(_NUL_IN_FORM), code="malformed-request"))


def race_page(request: HttpRequest, race: WriteConflict, error: Exception) -> HttpResponse:
    """Says of what was sent, or looked at, that somebody else came first, and leaves one line in the log."""
    logger.warning("a page came too late: %s", type(error).__qualname__)
    if request.method in ("GET", "HEAD"):
        return not_found(request, error)
    if race is WriteConflict.TAKEN:
        words = _("Somebody else saved the same in this moment, so nothing of this was saved.")
        return _refused(request, Conflict(words))
    words = _("What this was about was deleted meanwhile, so nothing was saved.")
    return _refused(request, NotFound(words))


def _form_kb() -> int:
    return (settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0) // 1024


def _refused(request: HttpRequest, error: RequestError) -> HttpResponse:
    is_for_people = "text/html" in request.headers.get("Accept", "")  # none is of a page's script
    if is_api(request.path_info) or not is_for_people:
        body = error_body(error, request_id=request_id_of(request))
        headers = {"Cache-Control": "no-store", **when_again(error)}
        return JsonResponse(body, status=error.status, headers=headers)
    page = render_to_string("refused.html", {"error": error, "words": error.public})
    return HttpResponse(page, status=error.status, headers=when_again(error))


def _let_go_of_what_was_sent(error: BaseException) -> None:
    """Empties the calls that an error came out of; who waits for its answer is one of them.

    They hold the form, and the error holds them until the collector comes: twenty took a gigabyte.
    """
    for frame, _line in walk_tb(error.__traceback__):
        if not frame.f_code.co_flags & _GOES_ON:
            with suppress(RuntimeError):  # it runs
                frame.clear()
