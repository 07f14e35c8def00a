"""Tools: the catalogue, and a page per tool on which it can be tried."""

from collections import defaultdict
from collections.abc import Mapping
from inspect import Parameter
from typing import Any

from asgiref.sync import async_to_sync
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from copilot_admin.accounts.members import Person, reachable
from copilot_admin.admin.components.trial_form import TrialForm, try_component
from copilot_admin.admin.site.site import site
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import MODEL
from copilot_admin.agent.components.registry import registry, sample_arguments
from copilot_admin.agent.server_tools import title_of
from copilot_admin.rendering.text import cell_text, pretty_json
from protocol.components.contract import parameters_of
from protocol.json import JsonObject, layout, list_of, object_of

VIEW = "copilot_admin.view_copilot"
TRY = "copilot_admin.change_copilot"  # a try may cost tokens
FOLDER = "admin/copilot_admin/component"
URL = "components/<slug:name>/<str:version>/"


@site.page("components/", name="components", permissions=(VIEW,), menu="Component")
@require_safe
def components_view(request: HttpRequest) -> HttpResponse:
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
        if result["refusal"]:
            form.add_error("arguments", result["refusal"])
    if request.headers.get("HX-Request"):
        return render(request, f"{FOLDER}/result.html", {"form": form, "result": result})
    return _render(request, component, form, result)


def _find_component(name: str, version: str) -> type[Component]:
    component = registry().find(name, version)
    if component is None:
        raise Http404
    return component


def _render(
    request: HttpRequest, component: type[Component], form: TrialForm, result: Any = None
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
        "form": form,
        "samples": range(1, len(component.samples) + 1),
        "result": result,
    }
    return render(request, f"{FOLDER}/component.html", context)


_TYPES: Mapping[str, str | Promise] = {
    "string": gettext_lazy("text"),
    "integer": gettext_lazy("whole number"),
    "number": gettext_lazy("number"),
    "boolean": gettext_lazy("yes or no"),
    "object": gettext_lazy("object"),
    "null": gettext_lazy("nothing"),
}


def describe_parameters(component: type[Component]) -> list[dict[str, Any]]:
    """Return the parameters in the order of the manifest; `default` is None if there is none."""
    schema = component.parameters()
    required = list_of(schema.get("required"))
    defaults = {one.name: one.default for one in parameters_of(component.tool_eval)}
    return [
        {
            "name": name,
            "type": describe_type(object_of(value)),
            "description": cell_text(object_of(value).get("description")),
            "required": name in required,
            "choices": [cell_text(one) for one in list_of(object_of(value).get("enum"))],
            "default": _format_default(defaults.get(name, Parameter.empty)),
        }
        for name, value in object_of(schema.get("properties")).items()
    ]


def describe_type(schema: JsonObject) -> str:
    """Return a type in words: "list of text", "whole number, 1 to 20"."""
    kind = schema.get("type")
    if alternatives := list_of(schema.get("anyOf")):
        kinds = [describe_type(object_of(one)) for one in alternatives]
    elif isinstance(kind, list):
        kinds = [describe_type({**schema, "type": one}) for one in kind]
    elif kind == "array":
        kinds = [_("list of %(of)s") % {"of": describe_type(object_of(schema.get("items")))}]
    else:
        kinds = [str(_TYPES.get(str(kind), _("any value")))]
    return _(" or ").join(dict.fromkeys(kinds)) + _describe_bounds(schema)


def _describe_bounds(schema: JsonObject) -> str:
    bounds = {"least": schema.get("minimum"), "most": schema.get("maximum")}
    match bounds["least"] is not None, bounds["most"] is not None:
        case True, True:
            return _(", %(least)s to %(most)s") % bounds
        case True, False:
            return _(", %(least)s or more") % bounds
        case False, True:
            return _(", %(most)s or less") % bounds
    return ""


def _format_default(default: Any) -> str | None:
    if default is Parameter.empty:
        return None
    return pretty_json(list(default) if isinstance(default, tuple | frozenset) else default)


def find_uses(user: Person) -> Mapping[str, list[dict[str, Any]]]:
    """Return the user's copilots by the name of the components they use; one query."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    rows = reachable(user).in_use().by_name().values_list("pk", "name", "components")
    for pk, name, components in rows.exclude(components=[]):
        for row in components:
            found[row["name"]].append({"copilot_id": pk, "copilot": name, **row})
    return found
