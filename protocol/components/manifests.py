"""Manifests of components, generated from the signature and the docstring of their `tool_eval`.

Source: the component contract, which announces manifests generated from parameters and comments.
A manifest describes a tool to a model: name, description, parameters.
"""

from collections.abc import Callable, Mapping
import inspect
import re
from typing import Any, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from protocol.json import Json, JsonObject
from protocol.json_schema import self_contained

_PARAGRAPH_END = re.compile(
    r"\n\s*\n|^(?:Args|Arguments|Returns|Yields|Raises|Examples?|Attributes|Note):\s*$",
    re.MULTILINE,
)
_ARGUMENTS = re.compile(r"^Arg(?:ument)?s:[ ]*\n((?:(?:[ ].*)?(?:\n|\Z))*)", re.MULTILINE)
# A name with two or four spaces before it, then lines that are indented further.
_ARGUMENT = re.compile(
    r"^ {1,4}\*{0,2}(\w+)[ ]*(?:\([^)\n]*\))?:(.*(?:\n(?: {5,}.*|[ ]*$))*)", re.MULTILINE
)


def manifest_from(function: Callable[..., object], *, name: str, summary: str = "") -> JsonObject:
    """Return the manifest of a tool that the function carries out.

    Args:
        function: Typed; its Google-style docstring describes it and, under `Args:`, each parameter.
        name: The tool's name for the model.
        summary: The description if the docstring is empty.

    Returns:
        `{"name", "description", "parameters"}`. The contract's rules report what is missing in it.
    """
    text = inspect.getdoc(function) or ""
    described = argument_descriptions(text)
    model = _parameters_model(function)
    schema = self_contained(model.model_json_schema())
    typed = cast("Mapping[str, JsonObject]", schema.get("properties", {}))
    properties: dict[str, Json] = {
        # The docstring is more specific than the description of the type.
        key: {"description": "", **value} | {"description": described[key]}
        if key in described
        else value
        for key, value in typed.items()
    }
    parameters: dict[str, Json] = {"type": "object", "properties": properties}
    if schema.get("required"):
        parameters["required"] = schema["required"]
    description = " ".join(_PARAGRAPH_END.split(text, maxsplit=1)[0].split()) or summary
    return {"name": name, "description": description, "parameters": parameters}


def parameters_of(function: Callable[..., object]) -> tuple[inspect.Parameter, ...]:
    """Return the parameters of a `tool_eval` that a model fills in: no `self`, no `**kwargs`."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return tuple(
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind in named and parameter.name != "self"
    )


def argument_descriptions(docstring: str) -> dict[str, str]:
    """Return the description of each argument in a Google-style docstring, on one line.

    Args:
        docstring: Without indentation, as `inspect.getdoc` returns it.
    """
    section = _ARGUMENTS.search(docstring)
    found = _ARGUMENT.finditer(section[1]) if section else ()
    return {match[1]: " ".join(match[2].split()) for match in found}


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
