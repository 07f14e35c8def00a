"""Middleware of the admin's pages: the reader's time zone, and sign-in for htmx requests."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

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


class AdminMiddleware(MiddlewareMixin):
    """Show times in the reader's time zone, and answer 401 to htmx instead of a sign-in page."""

    def process_request(self, request: HttpRequest) -> None:
        is_page = request.path_info.startswith("/admin/")
        zone = read_time_zone(request) if is_page else None
        timezone.activate(zone or timezone.get_default_timezone())

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        timezone.deactivate()
        location = response.headers.get("Location", "")
        is_sign_in = location.partition("?")[0] == reverse("admin:login")
        if is_sign_in and request.headers.get("HX-Request"):
            return HttpResponse(status=401)
        return response
