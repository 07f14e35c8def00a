"""Django's middleware for the pages that people see; requests of machines pass it by.

A page of a database that is away is one that says so, whatever part of Django needed it.

Sessions, logins and CSRF tokens mean nothing to a client of the API, and each of Django's stock
classes would cost its request a hop to a thread, which a stream then holds to its end.
"""

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any, TypeAlias, cast

from asgiref.sync import iscoroutinefunction, sync_to_async
from django import db
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, QueryDict
from django.middleware.common import CommonMiddleware
from django.middleware.csrf import CsrfViewMiddleware
from django.middleware.locale import LocaleMiddleware
from django.middleware.security import SecurityMiddleware
from django.template.loader import render_to_string
from django.utils.decorators import sync_and_async_middleware
from django.utils.deprecation import MiddlewareMixin

from copilot_admin.errors import Unavailable, UnknownHost
from copilot_admin.http.asgi_types import error_body, is_api
from copilot_admin.http.error_pages import (
    nul_page,
    race_page,
    unavailable_page,
    will_pass,
)
from copilot_admin.http.request_ids import request_id_of
from copilot_admin.storage.errors import conflict_of, is_outage

# Middleware is called in either mode, so what it returns may have to be awaited.
_GetResponse: TypeAlias = Callable[[HttpRequest], Any]
_AsyncHandler: TypeAlias = Callable[[HttpRequest], Awaitable[HttpResponseBase]]
_View: TypeAlias = Callable[..., HttpResponseBase]

HEALTH_PATHS = frozenset({"/healthz", "/readyz"})


def is_for_machines(path: str) -> bool:
    """Whether a path is called by programs, without cookies."""
    return is_api(path) or path in HEALTH_PATHS


class _PagesOnly(MiddlewareMixin):
    """Runs the middleware it is mixed into for pages, in either mode of the server."""

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        """Serves one request; under ASGI the result is awaitable."""
        if not self.async_mode and is_for_machines(request.path_info):
            return self.get_response(request)
        try:
            response: HttpResponseBase | Awaitable[HttpResponseBase] = super().__call__(request)
        except db.Error as error:
            if not is_outage(error):
                raise
            return unavailable_page(error)
        return response

    async def __acall__(self, request: HttpRequest) -> HttpResponseBase:
        """Serves one request under ASGI."""
        if not is_for_machines(request.path_info):
            try:
                response: HttpResponseBase = await super().__acall__(request)
            except db.Error as error:
                if not is_outage(error):
                    raise
                return unavailable_page(error)
            return response
        return await cast(_AsyncHandler, self.get_response)(request)


class PageOutages(MiddlewareMixin):
    """A page instead of what a view of the admin breaks with while something takes nothing.

    That is foreseen, so it leaves no traceback; left to Django, each of a flood of log-ins would.
    So is a form with a NUL, which a field of Django's refuses and either database takes for a fault, and
    one whose row somebody else deleted, or made, in the same moment: no look before a write keeps that out.
    """

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """The page; None for every other error, and for machines."""
        if is_for_machines(request.path_info):
            return None
        if isinstance(error, db.DataError) and _has_nul(request.POST):
            return nul_page(request)
        if race := conflict_of(error):
            return race_page(request, race, error)
        if not (isinstance(error, Unavailable) or will_pass(error)):
            return None
        return unavailable_page(error)


class PageSecurity(_PagesOnly, SecurityMiddleware):
    """Strict transport security for pages; the other headers are put on outside Django."""


class PageSessions(_PagesOnly, SessionMiddleware):
    """Sessions for pages; one that says that the database is away keeps nothing there."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Stores what the page has changed in the session."""
        if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
            return response
        return super().process_response(request, response)


class PageLocale(_PagesOnly, LocaleMiddleware):
    """The reader's language for pages."""


class PageUsers(_PagesOnly, AuthenticationMiddleware):
    """The logged-in user for pages."""


class PageMessages(_PagesOnly, MessageMiddleware):
    """One-time notes for pages."""


class PageUrls(_PagesOnly, CommonMiddleware):
    """Slashes and an exact Host header for pages, and a page where an address takes forms only.

    Whoever logs in again after he has pressed a button is led to the address of the button.
    """

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """The answer as Django leaves it; one that says only its status says it in words."""
        if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED and not response.streaming:
            page = cast(HttpResponse, response)
            if not page.content:
                page.content = render_to_string("405.html").encode()
        return super().process_response(request, response)


class PageCsrf(_PagesOnly, CsrfViewMiddleware):
    """CSRF tokens for pages.

    Django hands a synchronous `process_view` to a thread for every request, so under ASGI this
    class has an asynchronous one, which goes to a thread for pages only.
    """

    def __init__(self, get_response: _GetResponse) -> None:
        super().__init__(get_response)
        if self.async_mode:
            self._check = self.process_view
            self.process_view = self._process_view_async  # type: ignore[method-assign,assignment]  # of this instance

    async def _process_view_async(
        self, request: HttpRequest, view: _View, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> HttpResponseBase | None:
        if is_for_machines(request.path_info):
            return None
        return await sync_to_async(self._check)(request, view, args, kwargs)


@sync_and_async_middleware
def exact_host(get_response: _GetResponse) -> _GetResponse:
    """Refuses API requests for another host, against DNS rebinding; reads only the header.

    Load balancers ask for health by address, so health has no host to check.
    """
    if iscoroutinefunction(get_response):

        async def serve_async(request: HttpRequest) -> HttpResponseBase:
            refusal = _refused_host(request)
            return refusal if refusal is not None else await get_response(request)

        return serve_async

    def serve(request: HttpRequest) -> HttpResponseBase:
        refusal = _refused_host(request)
        return refusal if refusal is not None else get_response(request)

    return serve


def _has_nul(form: QueryDict) -> bool:
    return any("\0" in value for _, values in form.lists() for value in values)


def _refused_host(request: HttpRequest) -> JsonResponse | None:
    if request.path_info in HEALTH_PATHS or not is_for_machines(request.path_info):
        return None
    try:
        request.get_host()
    except DisallowedHost:
        error = UnknownHost("This server does not answer for this host. Add it to ALLOWED_HOSTS.")
        body = error_body(error, request_id=request_id_of(request))
        return JsonResponse(body, status=error.status, headers={"Cache-Control": "no-store"})
    return None
