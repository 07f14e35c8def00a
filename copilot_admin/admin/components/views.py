"""Tools: the catalogue, and a page per tool on which it can be tried."""

from typing import Any

from asgiref.sync import async_to_sync
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.components.descriptions import describe_parameters, find_uses
from copilot_admin.admin.components.trial import TrialResult, try_component
from copilot_admin.admin.components.trial_form import TrialForm
from copilot_admin.admin.site.site import site
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import MODEL
from copilot_admin.agent.components.registry import registry, sample_arguments
from copilot_admin.agent.server_tools import title_of
from copilot_admin.rendering.text import pretty_json
from protocol.json import layout

VIEW = "copilot_admin.view_copilot"
TRY = "copilot_admin.change_copilot"  # a try may cost tokens
FOLDER = "admin/copilot_admin/component"
URL = "components/<slug:name>/<str:version>/"


@site.page("components/", name="components", permissions=(VIEW,), menu="Component")
@require_safe
def components_view(request: HttpRequest) -> HttpResponse:
    """List every tool in its newest version."""
    used = find_uses(request.user)
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
    component = _find_component(name, version)
    number = request.GET.get("sample", "")
    samples = {str(place): one for place, one in enumerate(component.samples, start=1)}
    sample = samples.get(number) or next(iter(component.samples), {})
    initial: dict[str, Any] = {"arguments": layout(sample_arguments(sample))}
    if MODEL in component.uses:
        initial["copilot"] = reachable(request.user).in_use().by_name().first()
    return _render(request, component, TrialForm(component, initial=initial, user=request.user))


@site.page(f"{URL}try/", name="component_try", permissions=(TRY,))
@require_POST
def try_view(request: HttpRequest, name: str, version: str) -> HttpResponse:
    """Run a tool and show the result; htmx gets the result alone."""
    component = _find_component(name, version)
    form = TrialForm(component, request.POST, request.FILES, user=request.user)
    result = None
    if form.is_valid():
        result = async_to_sync(try_component)(form.build_run(uid=f"user:{request.user.pk}"))
        if result.refusal:
            form.add_error("arguments", result.refusal)
    if request.headers.get("HX-Request"):
        return render(request, f"{FOLDER}/result.html", {"form": form, "result": result})
    return _render(request, component, form, result)


def _find_component(name: str, version: str) -> type[Component]:
    component = registry().find(name, version)
    if component is None:
        raise Http404
    return component


def _render(
    request: HttpRequest,
    component: type[Component],
    form: TrialForm,
    result: TrialResult | None = None,
) -> HttpResponse:
    sample = sample_arguments(next(iter(component.samples), {}))
    context = {
        **site.each_context(request),
        "title": title_of(component.name),
        "component": component,
        "about": component.documentation().replace("`", ""),
        "parameters": describe_parameters(component),
        "versions": registry().versions(component.name),
        "manifest": pretty_json(dict(component.manifests[0])),
        "sample_call": pretty_json({"stream": False, "parameters": sample}),
        "uses": find_uses(request.user).get(component.name, ()),
        "may_try": request.user.has_perm(TRY),
        "form": form,
        "samples": range(1, len(component.samples) + 1),
        "result": result,
    }
    return render(request, f"{FOLDER}/component.html", context)
