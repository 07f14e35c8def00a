"""Whoever has changed something reads the primary database for a while: replicas lag behind.

A cookie says so, since his next page may come to another process.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from copilot_admin.http.pages_middleware import is_for_machines

_GetResponse: TypeAlias = Callable[[HttpRequest], Any]

COOKIE = "copilot_primary"
SECONDS = 15  # longer than a replica may be behind
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def reads_primary(request: HttpRequest) -> bool:
    """Whether somebody has changed something just now, or does so."""
    return request.method not in SAFE or COOKIE in request.COOKIES


@sync_and_async_middleware
def fresh_after_writes(get_response: _GetResponse) -> _GetResponse:
    """Marks the browser of whoever changes something."""
    if iscoroutinefunction(get_response):

        async def serve_async(request: HttpRequest) -> HttpResponseBase:
            return _marked(request, await get_response(request))

        return serve_async

    def serve(request: HttpRequest) -> HttpResponseBase:
        return _marked(request, get_response(request))

    return serve


def _marked(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if request.method not in SAFE and not is_for_machines(request.path_info):
        response.set_cookie(
            COOKIE,
            "1",
            max_age=SECONDS,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
    return response
