"""The six rules of AppBuilder's component contract, as functions that all who check share.

Start-up applies the five that need no run; tests and the command that checks components apply all.
Source: AppBuilder's component contract and the checks of its SDK.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
import inspect
import re
from typing import Any, TypeAlias

from protocol.components.manifests import parameters_of
from protocol.components.outputs import ComponentOutput
from protocol.components.system_inputs import is_reserved
from protocol.json_schema import schema_fault

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")  # what vendors accept as the name of a function
_OF_THE_EXAMPLE = frozenset({"model", "secret_key", "gateway", "lazy_certification"})
VERSION = re.compile(r"[a-zA-Z0-9._-]{1,40}")


class ContractRule(StrEnum):
    """A rule of the contract, by the name that its SDK gives it."""

    MANIFEST_VALID = "ManifestValidRule"
    MANIFEST_MATCHES = "ManifestMatchToolEvalRule"
    INPUT_NAMES = "ToolEvalInputNameRule"
    TOOL_EVAL_KWARGS = "ToolEvalKwargsRule"
    INIT_KWARGS = "InitKwargsRule"
    OUTPUT_JSON = "ToolEvalOutputJsonRule"


@dataclass(frozen=True, slots=True)
class ContractFinding:
    """Where a component breaks a rule; `detail` says what would be right."""

    rule: ContractRule
    detail: str


# What is checked is somebody's class, which may lack anything: the rules find out.
ComponentClass: TypeAlias = type[Any]


def static_findings(component: ComponentClass) -> tuple[ContractFinding, ...]:
    """What is wrong with a component before it ever runs; empty when it may be used."""
    return tuple(finding for rule in STATIC_RULES for finding in rule(component))


def manifest_is_valid(component: ComponentClass) -> Iterator[ContractFinding]:
    """The manifest has a name, descriptions and a JSON Schema, and says what calls need."""

    def found(detail: str) -> ContractFinding:
        return ContractFinding(ContractRule.MANIFEST_VALID, detail)

    name, version = (getattr(component, key, "") for key in ("name", "version"))
    if not (isinstance(name, str) and TOOL_NAME.fullmatch(name)):
        yield found(f"the name {name!r} must be 1 to 64 of a-z, A-Z, 0-9, _ and -.")
    if not (isinstance(version, str) and VERSION.fullmatch(version)):
        yield found("the version must be a short word such as 'v1'.")
    manifests = _manifests(component)
    if len(manifests) != 1:
        yield found(f"there must be exactly one manifest for tool_eval, not {len(manifests)}.")
        return
    manifest = manifests[0]
    missing = [key for key in ("name", "description", "parameters") if not manifest.get(key)]
    if missing:
        yield found(f"the manifest lacks {', '.join(missing)}.")
    if manifest.get("name") and manifest["name"] != name:
        yield found(f"the manifest's name {manifest['name']!r} is not that of the component.")
    if manifest.get("parameters"):
        yield from map(found, _schema_faults(manifest["parameters"]))


def manifest_matches_tool_eval(component: ComponentClass) -> Iterator[ContractFinding]:
    """The manifest's parameters are those of `tool_eval`, and required where it has no default."""

    def found(detail: str) -> ContractFinding:
        return ContractFinding(ContractRule.MANIFEST_MATCHES, detail)

    properties, schema = _properties(component), _parameters(component)
    signature = {parameter.name: parameter for parameter in _taken(component)}
    for name in signature.keys() - properties.keys():
        yield found(f"tool_eval takes {name!r}, which is not in the manifest.")
    for name in properties.keys() - signature.keys():
        yield found(f"the manifest has {name!r}, which tool_eval does not take.")
    if "anyOf" in schema:
        return
    required = schema.get("required") or ()
    for name in set(required) - properties.keys():
        yield found(f"{name!r} is required, but is no parameter.")
    for name in properties.keys() & signature.keys():
        has_default = signature[name].default is not inspect.Parameter.empty
        if has_default and name in required:
            yield found(f"{name!r} has a default in tool_eval, so it must not be required.")
        if not has_default and name not in required:
            yield found(f"{name!r} has no default in tool_eval, so it must be required.")


def input_names_are_free(component: ComponentClass) -> Iterator[ContractFinding]:
    """No parameter has a name that the system uses."""
    names = {parameter.name for parameter in _taken(component)}
    for name in sorted(names | set(_properties(component))):
        if is_reserved(name):
            detail = f"the name {name!r} is reserved for what the system passes. Take another."
            yield ContractFinding(ContractRule.INPUT_NAMES, detail)


def tool_eval_takes_kwargs(component: ComponentClass) -> Iterator[ContractFinding]:
    """`tool_eval` takes `**kwargs`, in which the system inputs come."""
    if not _takes_kwargs(getattr(component, "tool_eval", None)):
        yield ContractFinding(ContractRule.TOOL_EVAL_KWARGS, "tool_eval must end with **kwargs.")


def init_takes_kwargs(component: ComponentClass) -> Iterator[ContractFinding]:
    """`__init__` takes `**kwargs`, or what that of the contract's own example takes."""
    if not _takes_kwargs(component.__init__) and not _is_as_in_the_example(component.__init__):
        yield ContractFinding(ContractRule.INIT_KWARGS, "__init__ must end with **kwargs.")


def outputs_are_json(
    component: ComponentClass, outputs: Iterable[ComponentOutput]
) -> Iterator[ContractFinding]:
    """What a run gave is JSON of the contract's types, of those that the component declares.

    Args:
        component: That was run.
        outputs: Of a run with one of its samples.
    """
    listed = list(outputs)
    faults = [fault for output in listed for fault in _output_faults(component, output)]
    if not listed or not any(getattr(output, "content", True) for output in listed):
        faults.append("a run must give at least one content item.")
    for fault in dict.fromkeys(faults):
        yield ContractFinding(ContractRule.OUTPUT_JSON, fault)


STATIC_RULES: tuple[Callable[[ComponentClass], Iterator[ContractFinding]], ...] = (
    manifest_is_valid,
    manifest_matches_tool_eval,
    input_names_are_free,
    tool_eval_takes_kwargs,
    init_takes_kwargs,
)


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
    fault = schema_fault(parameters)
    if fault:
        yield f"parameters is no JSON Schema: {fault}"
        return
    if parameters.get("type") != "object" or "properties" not in parameters:
        yield "parameters must be a schema of type object with properties."
    for name, value in (parameters.get("properties") or {}).items():
        lacking = [key for key in ("type", "description") if not _says(value, key)]
        if lacking:
            yield f"the parameter {name!r} lacks {' and '.join(lacking)}."


def _says(schema: object, key: str) -> bool:
    if not isinstance(schema, Mapping):
        return False
    choices = schema.get("anyOf")
    return bool(schema.get(key)) or (key == "type" and bool(choices or schema.get("enum")))


def _manifests(component: ComponentClass) -> list[Mapping[str, Any]]:
    given = getattr(component, "manifests", ())
    listed = given if isinstance(given, Sequence) else ()
    return [one for one in listed if isinstance(one, Mapping)]


def _taken(component: ComponentClass) -> tuple[inspect.Parameter, ...]:
    tool_eval = getattr(component, "tool_eval", None)
    return parameters_of(tool_eval) if callable(tool_eval) else ()


def _parameters(component: ComponentClass) -> Mapping[str, Any]:
    for manifest in _manifests(component):
        parameters = manifest.get("parameters")
        if isinstance(parameters, Mapping):
            return parameters
    return {}


def _properties(component: ComponentClass) -> Mapping[str, Any]:
    properties = _parameters(component).get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _is_as_in_the_example(init: Callable[..., object]) -> bool:
    parameters = dict(inspect.signature(init).parameters)
    parameters.pop("self", None)
    can_be_left_out = all(one.default is not one.empty for one in parameters.values())
    return can_be_left_out and parameters.keys() >= _OF_THE_EXAMPLE


def _takes_kwargs(function: object) -> bool:
    if not callable(function):
        return False
    parameters = inspect.signature(function).parameters.values()
    return any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
