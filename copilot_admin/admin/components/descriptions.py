"""Descriptions of components and their use."""

from collections import defaultdict
from collections.abc import Mapping
from inspect import Parameter
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import Person, reachable
from copilot_admin.agent.components.base import Component
from copilot_admin.rendering.text import cell_text, pretty_json
from protocol.components.contract import parameters_of
from protocol.json import JsonObject, list_of, object_of

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
    if bounds["least"] is None and bounds["most"] is None:
        return ""
    if bounds["most"] is None:
        return _(", %(least)s or more") % bounds
    if bounds["least"] is None:
        return _(", %(most)s or less") % bounds
    return _(", %(least)s to %(most)s") % bounds


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
            use = {"copilot_id": pk, "copilot": name, "version": row["version"]}
            found[row["name"]].append(use)
    return found
