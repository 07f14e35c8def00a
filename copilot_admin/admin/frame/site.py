"""The admin site: its name, its rail, its start page."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.http import HttpRequest
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.figures.views import FiguresViews
from copilot_admin.admin.frame.navigation import navigation
from copilot_admin.admin.frame.running import RunningViews
from copilot_admin.admin.frame.sign_ins import password_changed
from copilot_admin.admin.frame.start_page import start_page
from copilot_admin.admin.limits.views import LimitsViews
from copilot_admin.admin.logins.forms import LoginForm
from copilot_admin.admin.logins.site_views import LogInViews
from copilot_admin.admin.privacy.views import PrivacyViews

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
        """What every page of the admin knows."""
        context = super().each_context(request)
        models = [model for app in context["available_apps"] for model in app["models"]]
        context["navigation"] = navigation(
            [*models, *self.places(request)],
            index_url=reverse(f"{self.name}:index"),
            path=request.path,
        )
        return context

    def index(
        self, request: HttpRequest, extra_context: Mapping[str, Any] | None = None
    ) -> TemplateResponse:
        """The start page: what there is, what happened last, what to do next."""
        return super().index(request, {**start_page(request), **(extra_context or {})})

    def password_change(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> TemplateResponse:
        """The page on which somebody changes his own password; that he did is in the audit trail."""
        with transaction.atomic():
            response = super().password_change(request, extra_context)
            if response.status_code == HTTPStatus.FOUND and request.method == "POST":
                password_changed(request)
        return response


site = CopilotAdminSite()
