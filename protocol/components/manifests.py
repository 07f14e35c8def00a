"""Makes the manifest of a component from the signature and the docstring of its `tool_eval`.

Source: "today written by hand; in future generated from parameters and comments" of the component
contract. A manifest is what a model is told of a tool: name, description, parameters.
"""

from collections.abc import Callable, Mapping
import inspect
import re
from typing import Any, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from protocol.json import Json, JsonObject
from protocol.json_schema import self_contained

_SECTION = re.compile(r"^(Args|Arguments|Returns|Yields|Raises|Examples?|Attributes|Note):\s*$")
_ARGUMENT = re.compile(r"^\*{0,2}(\w+)\s*(?:\([^)]*\))?:\s*(.*)$")


def manifest_from(function: Callable[..., object], *, name: str, summary: str = "") -> JsonObject:
    """The manifest of a tool that the function carries out.

    Args:
        function: Typed; its Google-style docstring describes it and, under `Args:`, each parameter.
        name: What the model calls the tool.
        summary: The description where the docstring has none.

    Returns:
        `{"name", "description", "parameters"}`. What annotations or docstring do not say is
        missing in it, and the contract's rules find it.

    Examples:
        >>> async def tool_eval(self, query: str, top_k: int = 3, **kwargs):
        ...     '''Finds notes.
        ...
        ...     Args:
        ...         query: What to look for.
        ...         top_k: How many.
        ...     '''
        >>> manifest_from(tool_eval, name="notes")["parameters"]["required"]
        ['query']
    """
    text = inspect.getdoc(function) or ""
    described = argument_descriptions(text)
    model = _parameters_model(function)
    schema = self_contained(model.model_json_schema())
    typed = cast("Mapping[str, JsonObject]", schema.get("properties", {}))
    properties: dict[str, Json] = {
        key: {"description": described[key], **_without_description(value)}
        if key in described
        else value
        for key, value in typed.items()
    }
    parameters: dict[str, Json] = {"type": "object", "properties": properties}
    if schema.get("required"):
        parameters["required"] = schema["required"]
    description = _first_paragraph(text) or summary
    return {"name": name, "description": description, "parameters": parameters}


def parameters_of(function: Callable[..., object]) -> tuple[inspect.Parameter, ...]:
    """The parameters of a `tool_eval` that a model fills in: no `self`, no `**kwargs`."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in named and parameter.name != "self"
    )


def argument_descriptions(docstring: str) -> dict[str, str]:
    """What a Google-style docstring says of each argument, on one line.

    Args:
        docstring: Without indentation, as `inspect.getdoc` gives it.
    """
    section, current = "", ""
    found: dict[str, str] = {}
    for line in docstring.splitlines():
        heading = _SECTION.match(line)
        if heading:
            section = heading[1]
            continue
        indent = len(line) - len(line.lstrip())
        if line.strip() and not indent:
            section = ""  # a paragraph that stands beside the sections
        if section not in ("Args", "Arguments") or not line.strip():
            continue
        named = _ARGUMENT.match(line.strip()) if indent <= 4 else None
        if named:
            current = named[1]
            found[current] = named[2].strip()
        elif current:
            found[current] = f"{found[current]} {line.strip()}".strip()
    return found


def _parameters_model(function: Callable[..., object]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        parameter.name: (
            hints.get(parameter.name, Any),
            ... if parameter.default is inspect.Parameter.empty else parameter.default,
        )
        for parameter in parameters_of(function)
    }
    return create_model("Parameters", __config__=ConfigDict(extra="forbid"), **fields)


def _without_description(schema: JsonObject) -> dict[str, Json]:
    """The schema of a type without what is said of it: what is said of the argument is nearer."""
    return {key: value for key, value in schema.items() if key != "description"}


def _first_paragraph(docstring: str) -> str:
    lines = []
    for line in docstring.splitlines():
        if not line.strip() or _SECTION.match(line):
            break
        lines.append(line.strip())
    return " ".join(lines)
