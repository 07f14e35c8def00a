"""Manifests of components, the six rules of AppBuilder's contract, and its reserved inputs.

Start-up applies the five static rules; tests and the command that checks components apply all.
Source: AppBuilder's component contract and the checks of its SDK.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
import inspect
import re
from typing import Any, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from protocol.components.content import ComponentOutput
from protocol.json import Json, JsonObject, list_of, object_of, text_of
from protocol.json_schema import schema_fault, self_contained

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # the function names that vendors accept
VERSION = re.compile(r"[a-zA-Z0-9._-]{1,40}")
_EXAMPLE_PARAMETERS = frozenset({"model", "secret_key", "gateway", "lazy_certification"})
_PREFIX = "_sys_"
_RESERVED = frozenset({"model_configs", "uploaded_files", "traceid"})
_CALLER_MAY_SET = re.compile(
    "model_configs|uploaded_files|_sys_(origin_query|file_urls|file_names|conversation_id"
    "|end_user_id|chat_history|user_instruction|custom_variables|uploaded_files)"
)
ComponentClass: TypeAlias = type[Any]  # with the attributes of the contract, valid or not
_PARAGRAPH_END = re.compile(
    r"\n\s*\n|^(?:Args|Arguments|Returns|Yields|Raises|Examples?|Attributes|Note):\s*$",
    re.MULTILINE,
)
_ARGUMENTS = re.compile(r"^Arg(?:ument)?s:[ ]*\n((?:(?:[ ].*)?(?:\n|\Z))*)", re.MULTILINE)
# A name with two or four spaces before it, then lines that are indented further.
_ARGUMENT = re.compile(
    r"^ {1,4}\*{0,2}(\w+)[ ]*(?:\([^)\n]*\))?:(.*(?:\n(?: {5,}.*|[ ]*$))*)", re.MULTILINE
)


class ContractRule(StrEnum):
    """A rule of the contract, named as in its SDK."""

    MANIFEST_VALID = "ManifestValidRule"
    MANIFEST_MATCHES = "ManifestMatchToolEvalRule"
    INPUT_NAMES = "ToolEvalInputNameRule"
    TOOL_EVAL_KWARGS = "ToolEvalKwargsRule"
    INIT_KWARGS = "InitKwargsRule"
    OUTPUT_JSON = "ToolEvalOutputJsonRule"


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """A rule that a component violates; `detail` describes the valid form."""

    component: ComponentClass
    rule: ContractRule
    detail: str

    @property
    def sentence(self) -> str:
        """A sentence with the class, the rule and the valid form."""
        where = f"{self.component.__module__}.{self.component.__qualname__}"
        return f"The component {where} breaks {self.rule}: {self.detail}"


def is_reserved(name: str) -> bool:
    """Return whether the name is reserved for an input of the system."""
    return name.startswith(_PREFIX) or name in _RESERVED


def from_caller(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the system inputs of a request that a caller may set; others can't be forged."""
    return {name: one for name, one in parameters.items() if _CALLER_MAY_SET.fullmatch(name)}


def static_findings(component: ComponentClass) -> tuple[ContractFinding, ...]:
    """Return the findings on a component that hasn't run yet; empty if it is usable."""
    return tuple(
        ContractFinding(component, rule, detail)
        for rule, check in _STATIC_RULES.items()
        for detail in check(component)
    )


def outputs_are_json(
    component: ComponentClass, outputs: Iterable[ComponentOutput]
) -> Iterator[ContractFinding]:
    """Yield findings on the outputs of a run: JSON of the types that the component declares."""
    listed = list(outputs)
    faults = [fault for output in listed for fault in _output_faults(component, output)]
    if not any(getattr(output, "content", True) for output in listed):
        faults.append("a run must give at least one content item.")
    for fault in dict.fromkeys(faults):
        yield ContractFinding(component, ContractRule.OUTPUT_JSON, fault)


def _manifest_is_valid(component: ComponentClass) -> Iterator[str]:
    name, version = component.name, component.version
    if not (isinstance(name, str) and TOOL_NAME.fullmatch(name)):
        yield f"the name {name!r} must be 1 to 64 of a-z, A-Z, 0-9, _ and -."
    if not (isinstance(version, str) and VERSION.fullmatch(version)):
        yield "the version must be a short word such as 'v1'."
    if len(component.manifests) != 1:
        yield f"there must be exactly one manifest for tool_eval, not {len(component.manifests)}."
        return
    manifest = component.manifests[0]
    missing = [key for key in ("name", "description", "parameters") if not manifest.get(key)]
    if missing:
        yield f"the manifest lacks {', '.join(missing)}."
    if manifest.get("name") and manifest["name"] != name:
        yield f"the manifest's name {manifest['name']!r} is not that of the component."
    if parameters := manifest.get("parameters"):
        yield from _schema_faults(parameters)


def _manifest_matches_tool_eval(component: ComponentClass) -> Iterator[str]:
    """Check that the manifest has the parameters of `tool_eval`, required without a default."""
    schema = _parameters(component)
    properties = object_of(schema.get("properties"))
    has_default = {one.name: one.default is not one.empty for one in _inputs(component)}
    for name in has_default.keys() - properties.keys():
        yield f"tool_eval takes {name!r}, which is not in the manifest."
    for name in properties.keys() - has_default.keys():
        yield f"the manifest has {name!r}, which tool_eval does not take."
    if "anyOf" in schema:
        return
    required = set(map(text_of, list_of(schema.get("required"))))
    for name in required - properties.keys():
        yield f"{name!r} is required, but is no parameter."
    for name in properties.keys() & has_default.keys():
        if has_default[name] and name in required:
            yield f"{name!r} has a default in tool_eval, so it must not be required."
        if not has_default[name] and name not in required:
            yield f"{name!r} has no default in tool_eval, so it must be required."


def _input_names_are_free(component: ComponentClass) -> Iterator[str]:
    names = {parameter.name for parameter in _inputs(component)}
    names |= object_of(_parameters(component).get("properties")).keys()
    for name in sorted(filter(is_reserved, names)):
        yield f"the name {name!r} is reserved for what the system passes. Take another."


def _tool_eval_takes_kwargs(component: ComponentClass) -> Iterator[str]:
    if not _takes_kwargs(component.tool_eval):
        yield "tool_eval must end with **kwargs."


def _init_takes_kwargs(component: ComponentClass) -> Iterator[str]:
    """Check that `__init__` accepts `**kwargs`, or the parameters of the contract's own example."""
    parameters = list(inspect.signature(component.__init__).parameters.values())[1:]
    is_as_in_the_example = (
        all(one.default is not one.empty for one in parameters)
        and {one.name for one in parameters} >= _EXAMPLE_PARAMETERS
    )
    if not is_as_in_the_example and not _takes_kwargs(component.__init__):
        yield "__init__ must end with **kwargs."


_STATIC_RULES: Mapping[ContractRule, Callable[[ComponentClass], Iterator[str]]] = {
    ContractRule.MANIFEST_VALID: _manifest_is_valid,
    ContractRule.MANIFEST_MATCHES: _manifest_matches_tool_eval,
    ContractRule.INPUT_NAMES: _input_names_are_free,
    ContractRule.TOOL_EVAL_KWARGS: _tool_eval_takes_kwargs,
    ContractRule.INIT_KWARGS: _init_takes_kwargs,
}


def _output_faults(component: ComponentClass, output: object) -> Iterator[str]:
    if not isinstance(output, ComponentOutput):
        yield f"tool_eval yields {type(output).__name__}, not what create_output makes."
        return
    try:
        ComponentOutput.model_validate_json(output.model_dump_json())
    except ValueError as error:
        yield f"an output is no JSON of the contract: {error}"
    declared = component.content_types
    for content in output.content:
        if declared and content.type not in declared:
            yield f"gives {content.type.value!r}, which content_types does not declare."


def _schema_faults(parameters: object) -> Iterator[str]:
    if not isinstance(parameters, Mapping):
        yield "parameters is no JSON Schema: it must be an object."
        return
    if fault := schema_fault(parameters):
        yield f"parameters is no JSON Schema: {fault}"
        return
    if parameters.get("type") != "object" or "properties" not in parameters:
        yield "parameters must be a schema of type object with properties."
    for name, value in (parameters.get("properties") or {}).items():
        schema = object_of(value)
        has_type = any(schema.get(key) for key in ("type", "anyOf", "enum"))
        lacking = [] if has_type else ["type"]
        lacking += [] if schema.get("description") else ["description"]
        if lacking:
            yield f"the parameter {name!r} lacks {' and '.join(lacking)}."


def _parameters(component: ComponentClass) -> JsonObject:
    return next((object_of(one.get("parameters")) for one in component.manifests), {})


def _inputs(component: ComponentClass) -> tuple[inspect.Parameter, ...]:
    return parameters_of(component.tool_eval) if component.tool_eval else ()


def _takes_kwargs(function: object) -> bool:
    parameters = inspect.signature(function).parameters.values() if callable(function) else ()
    return any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)


def manifest_from(function: Callable[..., object], *, name: str, summary: str = "") -> JsonObject:
    """Return the manifest of a tool that the typed function carries out.

    Its Google-style docstring describes it and, under `Args:`, each parameter; `summary` is the
    description if the docstring is empty. The contract's rules report what is missing.
    """
    text = inspect.getdoc(function) or ""
    section = _ARGUMENTS.search(text)
    found = _ARGUMENT.finditer(section[1]) if section else ()
    described = {match[1]: " ".join(match[2].split()) for match in found}
    schema = self_contained(_parameters_model(function).model_json_schema())
    properties: dict[str, Json] = {
        # The docstring is more specific than the description of the type.
        key: {"description": "", **object_of(value)} | {"description": described[key]}
        if key in described
        else value
        for key, value in object_of(schema.get("properties")).items()
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


def _parameters_model(function: Callable[..., object]) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        one.name: (hints.get(one.name, Any), ... if one.default is one.empty else one.default)
        for one in parameters_of(function)
    }
    return create_model("Parameters", __config__=ConfigDict(extra="forbid"), **fields)
