"""The catalogue of components: what there is, what each takes, and who uses it."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from copilot_admin.admin.common.component_words import (
    about,
    component_or_404,
    parameters,
    sample_call,
    uses,
)
from copilot_admin.admin.components.trial_views import FOLDER, TRY, ComponentTrialViews
from copilot_admin.agent.components.registry import registry
from copilot_admin.agent.server_tools import title_of
from copilot_admin.rendering.text import pretty_json

VIEW = "copilot_admin.view_copilot"


class ComponentViews(ComponentTrialViews):
    """The pages of components; whoever may see copilots may see what they call."""

    def get_urls(self) -> list[URLPattern | URLResolver]:
        wrap = self.admin_view
        own: list[URLPattern | URLResolver] = [
            path("components/", wrap(self.catalogue_view), name="components"),
            path(
                "components/<slug:name>/<str:version>/",
                wrap(self.component_view),
                name="component",
            ),
        ]
        return own + super().get_urls()

    def places(self, request: HttpRequest) -> list[dict[str, str]]:
        """The links of the rail that lead to no model."""
        if not request.user.has_perm(VIEW):
            return []
        url = reverse(f"{self.name}:components")
        return [{"object_name": "Component", "name": _("Components"), "admin_url": url}]

    @method_decorator(require_safe)
    def catalogue_view(self, request: HttpRequest) -> HttpResponseBase:
        """Every component in its newest version."""
        _check(request)
        used = uses(request.user)
        cards = [
            {
                "component": component,
                "title": title_of(name),
                "uses": used.get(name, ()),
            }
            for name in registry().names()
            if (component := registry().find(name)) is not None
        ]
        return self._component_page(
            request, "catalogue.html", title=_("Components"), cards=cards, faults=registry().faults
        )

    @method_decorator(require_safe)
    def component_view(self, request: HttpRequest, name: str, version: str) -> HttpResponseBase:
        """One version of a component, with everything that a caller needs to know."""
        _check(request)
        component = component_or_404(name, version)
        return self._component_page(
            request,
            "component.html",
            title=title_of(name),
            component=component,
            about=about(component),
            parameters=parameters(component),
            versions=registry().versions(name),
            manifest=pretty_json(dict(component.manifests[0])),
            sample_call=sample_call(component),
            uses=uses(request.user).get(name, ()),
            may_try=request.user.has_perm(TRY),
        )

    def _component_page(self, request: HttpRequest, page: str, **context: Any) -> HttpResponseBase:
        return render(request, f"{FOLDER}/{page}", {**self.each_context(request), **context})


def _check(request: HttpRequest) -> None:
    if not request.user.has_perm(VIEW):
        raise PermissionDenied
