"""Middleware of the admin's pages: the reader's time zone, and sign-in for htmx requests."""

from collections.abc import Callable
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone

TIME_ZONE_COOKIE = "timezone"  # set by shell.js
MAX_ZONE_NAME = 64


def read_time_zone(request: HttpRequest) -> ZoneInfo | None:
    """Return the time zone that the browser reported; None if it is missing or unknown."""
    name = request.COOKIES.get(TIME_ZONE_COOKIE, "")
    if not name or len(name) > MAX_ZONE_NAME:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


class AdminMiddleware:
    """Show times in the reader's time zone, and answer 401 to htmx instead of a sign-in page."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if self.is_async:
            return self._call_async(request)  # type: ignore[return-value]  # awaited by Django
        with timezone.override(self._zone(request)):
            return self._finish(request, self.get_response(request))

    async def _call_async(self, request: HttpRequest) -> HttpResponseBase:
        with timezone.override(self._zone(request)):
            response = await self.get_response(request)  # type: ignore[misc]
            return self._finish(request, response)

    def _zone(self, request: HttpRequest) -> ZoneInfo | None:
        return read_time_zone(request) if request.path_info.startswith("/admin/") else None

    def _finish(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        location = response.headers.get("Location", "")
        is_sign_in = location.partition("?")[0] == reverse("admin:login")
        if is_sign_in and request.headers.get("HX-Request"):
            return HttpResponse(status=401)
        return response
