"""The part of the site that sends strangers to the sign-in page."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit, urlunsplit

from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import DisallowedRedirect
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme

_View = TypeVar("_View", bound=Callable[..., HttpResponseBase])


class SignInSite(AdminSite):
    """Site that returns to the page of a form after sign-in, since the form itself is lost."""

    def admin_view(self, view: _View, cacheable: bool = False) -> _View:
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if self.has_permission(request):
                return inner(request, *args, **kwargs)
            is_post = request.method == "POST"
            return _redirect_to_sign_in(_find_page(request) if is_post else request.get_full_path())

        return cast(_View, respond)


def _redirect_to_sign_in(following: str) -> HttpResponse:
    try:
        return redirect_to_login(following, reverse("admin:login"))
    except DisallowedRedirect:  # the URL is too long
        return redirect_to_login(urlsplit(following).path, reverse("admin:login"))


def _find_page(request: HttpRequest) -> str:
    page = request.headers.get("Referer", "")
    is_own = url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()})
    if not (page and is_own):
        return request.get_full_path()
    parts = urlsplit(page)
    return urlunsplit(("", "", parts.path, parts.query, ""))
