"""Tools: the catalogue, and a page per tool on which it can be tried."""

from typing import Any

from asgiref.sync import async_to_sync
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.admin.components.descriptions import (
    about,
    component_or_404,
    parameters,
    sample_call,
    uses,
)
from copilot_admin.admin.components.trial import ComponentTrial, TrialResult
from copilot_admin.admin.components.trial_form import TrialForm, get_initial
from copilot_admin.admin.site.site import site
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import registry
from copilot_admin.agent.server_tools import title_of
from copilot_admin.rendering.text import pretty_json

VIEW = "copilot_admin.view_copilot"
TRY = "copilot_admin.change_copilot"  # a try may cost tokens
FOLDER = "admin/copilot_admin/component"
URL = "components/<slug:name>/<str:version>/"


@site.page("components/", name="components", permissions=(VIEW,), menu="Component")
@require_safe
def components_view(request: HttpRequest) -> HttpResponse:
    """List every tool in its newest version."""
    used = uses(request.user)
    rows = [
        {"component": component, "title": title_of(name), "uses": used.get(name, ())}
        for name in registry().names()
        if (component := registry().find(name)) is not None
    ]
    context = {"title": _("Tools"), "rows": rows, "faults": registry().faults}
    return render(request, f"{FOLDER}/catalogue.html", {**site.each_context(request), **context})


@site.page(URL, name="component", permissions=(VIEW,))
@require_safe
def component_view(request: HttpRequest, name: str, version: str) -> HttpResponse:
    """Show one version of a tool: parameters, HTTP call, manifest, and a form to try it."""
    component = component_or_404(name, version)
    number = request.GET.get("sample", "1")
    sample = int(number) - 1 if number.isdecimal() and len(number) < 4 else 0
    initial = get_initial(component, max(sample, 0), user=request.user)
    return _render(request, component, TrialForm(component, initial=initial, user=request.user))


@site.page(f"{URL}try/", name="component_try", permissions=(TRY,))
@require_POST
def try_view(request: HttpRequest, name: str, version: str) -> HttpResponse:
    """Run a tool and show the result; htmx gets the result alone."""
    component = component_or_404(name, version)
    form = TrialForm(component, request.POST, request.FILES, user=request.user)
    result = None
    if form.is_valid():
        trial = ComponentTrial(form.run(uid=f"user:{request.user.pk}"))
        async_to_sync(trial.finish)()
        result = trial.result()
        if result.refusal:
            form.add_error("arguments", result.refusal)
    if request.headers.get("HX-Request"):
        return render(request, f"{FOLDER}/result.html", {"form": form, "result": result})
    return _render(request, component, form, result)


def _render(
    request: HttpRequest,
    component: type[Component],
    form: TrialForm,
    result: TrialResult | None = None,
) -> HttpResponse:
    context: dict[str, Any] = {
        **site.each_context(request),
        "title": title_of(component.name),
        "component": component,
        "about": about(component),
        "parameters": parameters(component),
        "versions": registry().versions(component.name),
        "manifest": pretty_json(dict(component.manifests[0])),
        "sample_call": sample_call(component),
        "uses": uses(request.user).get(component.name, ()),
        "may_try": request.user.has_perm(TRY),
        "form": form,
        "samples": range(1, len(component.samples) + 1),
        "result": result,
    }
    return render(request, f"{FOLDER}/component.html", context)
