"""Descriptions of components and their use."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter as Taken

from django.http import Http404
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import Person, reachable
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.registry import registry, sample_arguments
from copilot_admin.rendering.text import cell_text, pretty_json
from protocol.components.manifests import parameters_of
from protocol.json import JsonObject, object_of

_TYPES: Mapping[str, Promise] = {
    "string": gettext_lazy("text"),
    "integer": gettext_lazy("whole number"),
    "number": gettext_lazy("number"),
    "boolean": gettext_lazy("yes or no"),
    "object": gettext_lazy("object"),
    "null": gettext_lazy("nothing"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """Parameter of a tool; `default` is None if there is none."""

    name: str
    type: str
    description: str
    required: bool
    choices: tuple[str, ...]
    default: str | None


def parameters(component: type[Component]) -> tuple[Parameter, ...]:
    """Return the parameters of a component in the order of its manifest."""
    schema = component.parameters()
    properties = object_of(schema.get("properties"))
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    defaults = {one.name: one.default for one in parameters_of(component.tool_eval)}
    return tuple(
        Parameter(
            name=name,
            type=in_words(object_of(value)),
            description=cell_text(object_of(value).get("description")),
            required=name in names,
            choices=tuple(_choices(object_of(value))),
            default=_shown(defaults.get(name, Taken.empty)),
        )
        for name, value in properties.items()
    )


def in_words(schema: JsonObject) -> str:
    """Return a type in words: "list of text", "whole number, 1 to 20"."""
    return "".join((_kind(schema), *_bounds(schema)))


def about(component: type[Component]) -> str:
    """Return the author's documentation without code marks."""
    return component.documentation().replace("`", "")


def component_or_404(name: str, version: str) -> type[Component]:
    component = registry().find(name, version)
    if component is None:
        raise Http404
    return component


def first_sentence(text: str) -> str:
    """Return the first sentence of a text."""
    return text.partition(". ")[0].rstrip(".") + "."


def sample_call(component: type[Component]) -> str:
    """Return the body of a request that calls the component."""
    sample = component.samples[0] if component.samples else {}
    return pretty_json({"stream": False, "parameters": sample_arguments(sample)})


def _kind(schema: JsonObject) -> str:
    either = schema.get("anyOf")
    if isinstance(either, list):
        return _(" or ").join(dict.fromkeys(in_words(object_of(one)) for one in either))
    type = schema.get("type")
    if isinstance(type, list):
        return _(" or ").join(in_words({**schema, "type": one}) for one in type)
    if type == "array":
        of = in_words(object_of(schema.get("items")))
        return _("list of %(of)s") % {"of": of}
    if "enum" in schema and type is None:
        return _("one of the choices")
    word = str(_TYPES.get(str(type), _("any value")))
    return _("%(type)s, one of the choices") % {"type": word} if "enum" in schema else word


def _bounds(schema: JsonObject) -> Iterator[str]:
    least, most = schema.get("minimum"), schema.get("maximum")
    if least is not None and most is not None:
        yield _(", %(least)s to %(most)s") % {"least": least, "most": most}
    elif least is not None:
        yield _(", %(least)s or more") % {"least": least}
    elif most is not None:
        yield _(", %(most)s or less") % {"most": most}


def _choices(schema: JsonObject) -> Iterator[str]:
    choices = schema.get("enum")
    if isinstance(choices, list):
        yield from map(cell_text, choices)


def _shown(default: object) -> str | None:
    if default is Taken.empty:
        return None
    if isinstance(default, tuple | frozenset):
        default = list(default)
    return pretty_json(default)  # type: ignore[arg-type]  # defaults are JSON, as the schema is


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftWithComponent:
    """Copilot whose draft uses a component."""

    copilot_id: int
    copilot: str
    version: str


def uses(user: Person) -> Mapping[str, Sequence[DraftWithComponent]]:
    """Return the user's copilots by the name of the components they use; one query."""
    found: dict[str, list[DraftWithComponent]] = defaultdict(list)
    rows = reachable(user).in_use().by_name().values_list("pk", "name", "components")
    for pk, name, components in rows.exclude(components=[]):
        for row in components:
            use = DraftWithComponent(copilot_id=pk, copilot=name, version=row["version"])
            found[row["name"]].append(use)
    return found
