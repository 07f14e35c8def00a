"""The log-in of the site: by password, by the firm's account, and out again."""

from collections.abc import Callable, Mapping
from functools import wraps
from http import HTTPStatus
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit, urlunsplit

from django.conf import settings
from django.contrib import auth
from django.contrib.admin import AdminSite
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, redirect_to_login
from django.core.exceptions import DisallowedRedirect
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from copilot_admin.admin.logins.forms import EmergencyForm
from copilot_admin.admin.logins.log_in_rows import carried_out, rows_of
from copilot_admin.admin.logins.oidc_views import label_of, log_out_address
from copilot_admin.admin.logins.sessions import LoginSource, vouching_of
from copilot_admin.config.sso import SsoSettings

_View = TypeVar("_View", bound=Callable[..., HttpResponseBase])


class LogInViews(AdminSite):
    """Logging in and out, and where one is logged in."""

    def get_urls(self) -> list[URLPattern | URLResolver]:
        own: list[URLPattern | URLResolver] = [
            path("emergency/", self.emergency_view, name="emergency"),
            path("log-ins/", self.admin_view(self.log_ins_view), name="log_ins"),
            path("logged-in/", self.admin_view(self.logged_in_view), name="logged_in"),
        ]
        return own + super().get_urls()

    def admin_view(self, view: _View, cacheable: bool = False) -> _View:
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def answered(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            is_out = request.path == reverse("admin:logout")
            if is_out or self.has_permission(request):
                return inner(request, *args, **kwargs)
            is_sent = request.method == "POST"
            return _to_log_in(_page_of(request) if is_sent else request.get_full_path())

        return cast(_View, answered)

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        firm: SsoSettings = settings.SSO
        return {
            **super().each_context(request),
            "firm_label": label_of(firm.oidc) if firm.oidc.is_configured else "",
            "has_passwords": not firm.is_emergency_only,
            "sends_mail": bool(settings.EMAIL_HOST),
        }

    @method_decorator(never_cache)
    def login(
        self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None
    ) -> HttpResponse:
        firm: SsoSettings = settings.SSO
        if firm.is_emergency_only and request.method == "POST":
            return render(request, "no_passwords.html", status=HTTPStatus.FORBIDDEN)
        following = request.GET.get("next") or reverse("admin:index")
        return super().login(request, {"following": following, **(extra_context or {})})

    @method_decorator(never_cache)
    def emergency_view(self, request: HttpRequest) -> HttpResponse:
        """The password of a superuser, for when the firm's log-in is down."""
        if not settings.SSO.is_emergency_only:
            raise Http404
        context = {
            **self.each_context(request),
            "title": _("Log in"),
            "has_passwords": True,
            "firm_label": "",
            "app_path": request.get_full_path(),
            "username": request.user.get_username(),
            "next": reverse("admin:index"),
        }
        view = LoginView.as_view(
            authentication_form=EmergencyForm,
            template_name="admin/login.html",
            extra_context=context,
        )
        return cast(HttpResponse, view(request))

    @method_decorator([require_POST, never_cache])
    def logout(  # type: ignore[override]  # of a page of ours, where Django's is a template of its own
        self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None
    ) -> HttpResponse:
        """Ends the session here, and at the provider where it says how.

        The page leads there by itself: a form may only lead to this server.
        """
        vouching = vouching_of(request)
        by_oidc = vouching is not None and vouching.source is LoginSource.OIDC
        address = log_out_address(request, vouching.id_token) if vouching and by_oidc else ""
        auth.logout(request)
        context = {**self.each_context(request), "title": _("Logged out"), "onward": address}
        return render(request, "logged_out.html", context)

    @method_decorator([require_http_methods(["GET", "HEAD", "POST"]), never_cache])
    def log_ins_view(self, request: HttpRequest) -> HttpResponse:
        """Where one is logged in oneself."""
        person = cast(User, request.user)  # `admin_view` lets nobody else in
        if request.method == "POST":
            return carried_out(request, person, back=reverse("admin:log_ins"))
        context = {
            **self.each_context(request),
            "title": _("Where you are logged in"),
            "rows": rows_of(request, person),
            "is_own": True,
        }
        return render(request, "admin/copilot_admin/log_ins.html", context)

    @method_decorator([require_safe, never_cache])
    def logged_in_view(self, request: HttpRequest) -> HttpResponse:
        """Where a log-in in a window of its own ends: it tells the page that waits, and closes."""
        context = {**self.each_context(request), "title": _("You are logged in")}
        return render(request, "logged_in.html", context)


def _to_log_in(following: str) -> HttpResponse:
    try:
        return redirect_to_login(following, reverse("admin:login"))
    except DisallowedRedirect:
        return redirect_to_login(urlsplit(following).path, reverse("admin:login"))


def _page_of(request: HttpRequest) -> str:
    page = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()})
    if not (page and is_ours):
        return request.get_full_path()
    parts = urlsplit(page)
    return urlunsplit(("", "", parts.path, parts.query, ""))
