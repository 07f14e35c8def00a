"""Error responses: JSON for programs, a page for people, with `Retry-After` where it helps."""

import logging
import sys
from typing import cast

from django.core.exceptions import (
    DisallowedHost,
    RequestDataTooBig,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponsePermanentRedirect,
    JsonResponse,
)
from django.http.response import HttpResponseBase
from django.middleware.common import CommonMiddleware
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from django.views.defaults import page_not_found

from copilot_admin.errors import (
    BodyTimeout,
    BodyTooLarge,
    Conflict,
    InternalError,
    MalformedBody,
    MethodNotAllowed,
    NotFound,
    RequestError,
    RetryableError,
    Unauthorized,
    Unavailable,
    UnknownHost,
)
from copilot_admin.http.scope import (
    HEALTH_PATHS,
    REQUEST_ID_KEY,
    Scope,
    Send,
    get_joined_header,
    is_api,
    is_component_api,
)
from copilot_admin.ids import request_id
from copilot_admin.storage.errors import (
    DatabaseUnavailable,
    WriteConflict,
    conflict_of,
    is_disk_full,
    is_outage,
)
from copilot_admin.telemetry.finished_runs import notify_rejection

_NOT_FOUND = "There is nothing at this URL. Check the path of the request."
_BROKEN = "Something broke on the server. It has been recorded. Try again."
_MALFORMED = "The request was not understood. Check the client."
_UNKNOWN_HOST = "This server does not answer for this host. Add it to ALLOWED_HOSTS."

logger = logging.getLogger(__name__)


def build_retry_headers(error: RequestError) -> dict[str, str]:
    return {"Retry-After": str(error.retry_after)} if isinstance(error, RetryableError) else {}


def get_request_id(request: HttpRequest) -> str | None:
    """Return the id of a component API request; None elsewhere."""
    if not is_component_api(request.path_info):
        return None
    scope = getattr(request, "scope", request.META)  # Django's test client has no scope
    header = request.headers.get("X-Appbuilder-Request-Id", "").encode()
    return cast(str, scope.setdefault(REQUEST_ID_KEY, request_id(header)))


def _build_response(
    error: RequestError, path: str, accept: str, request_id: str | None
) -> HttpResponse:
    headers = {"Cache-Control": "no-store", **build_retry_headers(error)}
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"  # RFC 9110, 15.5.2
    elif isinstance(error, MethodNotAllowed):
        headers["Allow"] = error.allowed
    elif isinstance(error, BodyTimeout):
        headers["Connection"] = "close"
    if not is_api(path) and "text/html" in accept:
        text = _(error.template) % error.params if error.params else _(error.template)
        page = render_to_string("refused.html", {"error": error, "words": text})
        return HttpResponse(page, status=error.status, headers=headers)
    body = {"detail": error.public, "code": error.code}
    if request_id is not None:  # of the component API, which has its own shape
        body = {"request_id": request_id, "code": error.code, "message": error.public}
    return JsonResponse(body, status=error.status, headers=headers)


def build_error_response(request: HttpRequest, error: RequestError) -> HttpResponse:
    accept = request.headers.get("Accept", "")
    return _build_response(error, request.path_info, accept, get_request_id(request))


async def send_error(scope: Scope, send: Send, error: RequestError) -> None:
    notify_rejection(error)
    accept = get_joined_header(scope, "accept") or ""
    response = _build_response(error, scope["path"], accept, scope.get(REQUEST_ID_KEY))
    await send_response(send, response)


async def send_response(send: Send, response: HttpResponse) -> None:
    """Send a whole response outside Django."""
    response["Content-Length"] = str(len(response.content))
    rows = [(name.lower().encode(), value.encode()) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": rows})
    await send({"type": "http.response.body", "body": response.content})


def skip_request_log(response: HttpResponse) -> HttpResponse:
    """Keep Django from logging a response that has a better log line already."""
    response._has_been_logged = True  # type: ignore[attr-defined]  # there is no public way
    return response


def build_unavailable_response(request: HttpRequest, error: BaseException) -> HttpResponse:
    """Return a 503 for an outage; reads nothing from the database, and logs why.

    Of a database error only the class: its text may contain an address or a password.
    """
    cause = error.__cause__ if isinstance(error, Unavailable) else error
    notes = "; ".join([str(error), *getattr(error, "__notes__", ())])
    logger.warning("request answered with 503: %s", type(cause).__name__ if cause else notes)
    unavailable = error if isinstance(error, Unavailable) else DatabaseUnavailable()
    response = build_error_response(request, unavailable)
    if not is_api(request.path_info):
        response["Content-Type"] = "text/html; charset=utf-8"
        response.content = render_to_string("503.html", {"is_disk_full": is_disk_full(error)})
    return skip_request_log(response)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
        text = _("The form has too much text, or too many fields or files. Send less.")
        return build_error_response(request, BodyTooLarge(text))
    if not is_api(request.path_info):
        return HttpResponse(render_to_string("400.html"), status=400)
    if isinstance(exception, DisallowedHost):
        return build_error_response(request, UnknownHost(_UNKNOWN_HOST))
    return build_error_response(request, MalformedBody(_MALFORMED, code="malformed-request"))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if is_api(request.path_info):
        return build_error_response(request, NotFound(_NOT_FOUND))
    return page_not_found(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    error = sys.exc_info()[1]
    if error is not None and _is_outage(error):
        return build_unavailable_response(request, error)
    if is_api(request.path_info):
        return build_error_response(request, InternalError(_BROKEN))
    return HttpResponse(render_to_string("500.html"), status=500)


class ErrorPages(MiddlewareMixin):
    """Pages for foreseen errors of views: outages, conflicts, and methods without a page."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if _is_outage(error):
            return build_unavailable_response(request, error)
        conflict = None if is_api(request.path_info) else conflict_of(error)
        if conflict is None:
            return None
        logger.warning("request came too late: %s", type(error).__qualname__)
        if request.method in ("GET", "HEAD"):
            return not_found(request, error)
        if conflict is WriteConflict.TAKEN:
            text = _("Someone else saved at the same moment, so nothing was saved.")
            return build_error_response(request, Conflict(text))
        text = _("This was deleted in the meantime, so nothing was saved.")
        return build_error_response(request, NotFound(text))

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        allowed = sorted(response["Allow"].split(", "))
        if is_api(request.path_info):
            text = f"{request.method} is not served here. Send {' or '.join(allowed)}."
            return build_error_response(request, MethodNotAllowed(text, allowed=", ".join(allowed)))
        return HttpResponseNotAllowed(allowed, content=render_to_string("405.html"))


class HostCheckMiddleware(CommonMiddleware):
    """Django's `CommonMiddleware`; load balancers send health checks to an IP address."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        return None if request.path_info in HEALTH_PATHS else super().process_request(request)


def _is_outage(error: BaseException) -> bool:
    return isinstance(error, Unavailable) or is_outage(error) or is_disk_full(error)
