"""The admin site: name, menu and home page."""

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.decorators import method_decorator
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.admin.home.page import build_home, hide
from copilot_admin.admin.sign_in.site_mixin import SignInSite
from copilot_admin.admin.site import demo_data, pages
from copilot_admin.admin.site.navigation import build_menu
from copilot_admin.admin.site.waiting import count_waiting

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise

_View = TypeVar("_View", bound=Callable[..., HttpResponseBase])


class CopilotAdminSite(SignInSite):
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

    def page(
        self, route: str, *, name: str, permissions: tuple[str, ...], menu: str = ""
    ) -> Callable[[_View], _View]:
        """Register a view below /admin/ for users with any of the permissions.

        Args:
            route: URL below /admin/.
            name: Name of the URL, without "admin:".
            permissions: Any of them is enough.
            menu: Name of the page in `navigation.SECTIONS`; "" for a page without a link.
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
            path("demo/load/", self.admin_view(demo_data.load_view), name="demo_load"),
            path("demo/remove/", self.admin_view(demo_data.remove_view), name="demo_remove"),
        ]
        return own + self._page_urls + super().get_urls()

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        menu = build_menu(
            self._pages(request),
            index_url=reverse(f"{self.name}:index"),
            path=request.path,
            counts=count_waiting(request.user),
        )
        return {
            **super().each_context(request),
            "navigation": menu.items,
            "section_tabs": menu.tabs,
        }

    @method_decorator(require_safe)
    def find_view(self, request: HttpRequest) -> HttpResponse:
        """Search copilots, conversations and pages."""
        return pages.find(request, self.each_context(request), self._urls(request))

    @method_decorator(require_safe)
    def settings_view(self, request: HttpRequest) -> HttpResponse:
        """List the pages of the settings."""
        return pages.settings_overview(request, self.each_context(request), self._urls(request))

    def _urls(self, request: HttpRequest) -> dict[str, str]:
        return {page["object_name"]: page["admin_url"] for page in self._pages(request)}

    def _pages(self, request: HttpRequest) -> Iterator[dict[str, str]]:
        yield from self._lists(request)
        for name, (url_name, permissions) in self._menu_pages.items():
            if any(map(request.user.has_perm, permissions)):
                url = reverse(f"{self.name}:{url_name}")
                yield {"object_name": name, "name": name, "admin_url": url}
        url = reverse(f"{self.name}:settings")
        yield {"object_name": "Settings", "name": str(_("Settings")), "admin_url": url}

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        return super().get_app_list(request, app_label) if app_label else []

    def _lists(self, request: HttpRequest) -> Iterator[dict[str, str]]:
        for model, model_admin in self._registry.items():
            if model_admin.has_view_or_change_permission(request):
                meta = model._meta
                address = f"{self.name}:{meta.app_label}_{meta.model_name}_changelist"
                yield {
                    "object_name": meta.object_name or "",
                    "name": capfirst(str(meta.verbose_name_plural)),
                    "admin_url": reverse(address),
                }

    def index(
        self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None
    ) -> TemplateResponse:
        return super().index(request, {**build_home(request), **(extra_context or {})})


site = CopilotAdminSite()
