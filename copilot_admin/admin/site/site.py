"""The admin site: name, menu, home page, the way to sign-in, and middleware of its pages."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit, urlunsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.contrib.admin import AdminSite
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import DisallowedRedirect, PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.admin.home.page import build_home, hide, load_view, remove_view
from copilot_admin.admin.site.navigation import build_menu, find_results, list_settings
from copilot_admin.alerts.rules import filter_visible
from copilot_admin.models import Alert
from copilot_admin.models.review import Assignment

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

_View = TypeVar("_View", bound=Callable[..., HttpResponseBase])
TIME_ZONE_COOKIE = "timezone"  # set by shell.js
MAX_ZONE_NAME = 64


class CopilotAdminSite(AdminSite):
    """The one admin site of the service, with pages that belong to no model."""

    site_title: "_StrOrPromise" = _("Copilot Admin")
    site_header: "_StrOrPromise" = _("Copilot Admin")
    index_title: "_StrOrPromise" = _("Home")
    site_url = None
    enable_nav_sidebar = False  # the menu of base.html replaces it
    final_catch_all_view = False  # an unknown path is a 404 for strangers too: nothing to redirect

    def __init__(self, name: str = "admin") -> None:
        super().__init__(name)
        self._page_urls: list[URLPattern | URLResolver] = []
        self._menu_pages: dict[str, tuple[str, tuple[str, ...]]] = {}

    def admin_view(self, view: _View, cacheable: bool = False) -> _View:
        """Wrap a view; after sign-in a user returns to the page of a form, which itself is lost."""
        inner = super().admin_view(view, cacheable)

        @wraps(inner)
        def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if self.has_permission(request):
                return inner(request, *args, **kwargs)
            following = _find_page_of_form(request) if request.method == "POST" else ""
            following = following or request.get_full_path()
            try:
                return redirect_to_login(following, reverse("admin:login"))
            except DisallowedRedirect:  # the URL is too long
                return redirect_to_login(urlsplit(following).path, reverse("admin:login"))

        return cast(_View, respond)

    def page(
        self, route: str, *, name: str, permissions: tuple[str, ...], menu: str = ""
    ) -> Callable[[_View], _View]:
        """Register a view below /admin/ for users with any of the permissions.

        `menu` is the name of the page in `navigation.SECTIONS`; "" for a page without a link.
        """

        def register(view: _View) -> _View:
            @wraps(view)
            def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
                if not any(map(request.user.has_perm, permissions)):
                    raise PermissionDenied
                return view(request, *args, **kwargs)

            self._page_urls.append(path(route, self.admin_view(checked), name=name))
            if menu:
                self._menu_pages[menu] = name, permissions
            return cast(_View, checked)

        return register

    def get_urls(self) -> list[URLPattern | URLResolver]:
        own: list[URLPattern | URLResolver] = [
            path("find/", self.admin_view(self.find_view), name="find"),
            path("settings/", self.admin_view(self.settings_view), name="settings"),
            path("hide-checklist/", self.admin_view(require_POST(hide)), name="hide_checklist"),
            path("demo/load/", self.admin_view(load_view), name="demo_load"),
            path("demo/remove/", self.admin_view(remove_view), name="demo_remove"),
        ]
        return own + self._page_urls + super().get_urls()

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        items, tabs = build_menu(
            self._find_urls(request),
            index_url=reverse(f"{self.name}:index"),
            path=request.path,
            counts=_count_waiting(request.user),
        )
        return {**super().each_context(request), "navigation": items, "section_tabs": tabs}

    @method_decorator(require_safe)
    def find_view(self, request: HttpRequest) -> HttpResponse:
        """Search copilots, conversations and pages."""
        context = {**self.each_context(request), "title": _("Find")}
        context |= find_results(request, self._find_urls(request))
        is_part = request.headers.get("HX-Request")
        return render(
            request, "admin/includes/found.html" if is_part else "admin/find.html", context
        )

    @method_decorator(require_safe)
    def settings_view(self, request: HttpRequest) -> HttpResponse:
        """List the pages of the settings."""
        context = {**self.each_context(request), "title": _("Settings")}
        context["pages"] = list_settings(self._find_urls(request))
        return render(request, "admin/settings.html", context)

    def _find_urls(self, request: HttpRequest) -> dict[str, str]:
        """Return the URLs of lists and pages that a user may open, by model or page name."""
        urls = {
            model.__name__: reverse(
                f"{self.name}:{model._meta.app_label}_{model._meta.model_name}_changelist"
            )
            for model, model_admin in self._registry.items()
            if model_admin.has_view_or_change_permission(request)
        }
        for name, (url_name, permissions) in self._menu_pages.items():
            if any(map(request.user.has_perm, permissions)):
                urls[name] = reverse(f"{self.name}:{url_name}")
        return {**urls, "Settings": reverse(f"{self.name}:settings")}

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        return super().get_app_list(request, app_label) if app_label else []

    def index(
        self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None
    ) -> TemplateResponse:
        return super().index(request, {**build_home(request), **(extra_context or {})})


def _find_page_of_form(request: HttpRequest) -> str:
    page = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()}):
        return ""
    parts = urlsplit(page)
    return urlunsplit(("", "", parts.path, parts.query, ""))


def _count_waiting(user: AbstractBaseUser | AnonymousUser) -> Mapping[str, int]:
    """Return the number of waiting things by section key, for what the user may see."""
    counts: dict[str, int] = {}
    if not isinstance(user, User):
        return counts
    if user.has_perm("copilot_admin.view_alert"):
        counts["alerts"] = filter_visible(user, Alert.objects.filter(closed_at=None)).count()
    if user.has_perm("copilot_admin.view_reviewqueue"):
        mine = Assignment.objects.filter(reviewer=user, done_at=None, queue__is_closed=False)
        counts["review"] = mine.order_by().count()
    return counts


site = CopilotAdminSite()


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
