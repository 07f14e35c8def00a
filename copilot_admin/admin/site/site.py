"""The admin site: its name, its rail, its start page."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.analytics.views import FiguresViews
from copilot_admin.admin.limits.views import LimitsViews
from copilot_admin.admin.logins.forms import LoginForm
from copilot_admin.admin.logins.site_views import LogInViews
from copilot_admin.admin.privacy.views import PrivacyViews
from copilot_admin.admin.site.navigation import navigation
from copilot_admin.admin.site.running import RunningViews
from copilot_admin.admin.site.sign_ins import password_changed
from copilot_admin.admin.site.start_page import start_page

if TYPE_CHECKING:
    from django.utils.functional import _StrOrPromise


class CopilotAdminSite(FiguresViews, LimitsViews, PrivacyViews, RunningViews, LogInViews):
    """The one admin site of the service."""

    site_title: "_StrOrPromise" = _("Copilot Admin")
    site_header: "_StrOrPromise" = _("Copilot Admin")
    index_title: "_StrOrPromise" = _("Start")
    site_url = None
    enable_nav_sidebar = False  # the rail of base_site.html takes its place
    login_form = LoginForm
    final_catch_all_view = False  # an unknown path is a 404 for strangers too: nothing to redirect

    def each_context(self, request: HttpRequest) -> dict[str, Any]:
        context = super().each_context(request)
        context["navigation"] = navigation(
            [*self._lists(request), *self.places(request)],
            index_url=reverse(f"{self.name}:index"),
            path=request.path,
        )
        context["form_bounds"] = {"together": settings.DATA_UPLOAD_MAX_MEMORY_SIZE}
        return context

    def get_app_list(
        self, request: HttpRequest, app_label: str | None = None
    ) -> list[dict[str, Any]]:
        return super().get_app_list(request, app_label) if app_label else []

    def _lists(self, request: HttpRequest) -> Iterator[dict[str, str]]:
        for model, pages in self._registry.items():
            if pages.has_view_or_change_permission(request):
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
        return super().index(request, {**start_page(request), **(extra_context or {})})

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        with transaction.atomic():
            response = super().password_change(request, extra_context)
            if response.status_code == HTTPStatus.FOUND and request.method == "POST":
                password_changed(request)
        return response


site = CopilotAdminSite()
