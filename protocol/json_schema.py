"""JSON Schema: checks of schemas, and of data against schemas."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, cast

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import SchemaError
from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from protocol.json import Json, JsonObject, list_of, object_of, objects_of, text_of

MAX_FAULTS = 10  # further ones add no information
_MAX_CHARACTERS = 300  # of a path, and of a violation
_NOISE = frozenset({"title", "default"})  # pydantic's own names, which only use tokens
_REFERENCES = ("$ref", "$dynamicRef")
_BRANCHES = ("anyOf", "oneOf", "allOf")
_MAX_DEPTH = 10  # of a simplified schema: references may lead to themselves
_PATTERNS = FormatChecker(("regex",))  # other formats don't concern schemas


def schema_fault(schema: Any) -> str:
    """Return what is wrong with a schema, with its place in it, or an empty text.

    References must point into the same schema: nothing is ever fetched.
    """
    if schema is None:
        return ""
    try:
        Draft202012Validator.check_schema(schema, format_checker=_PATTERNS)
        return _reference_fault(schema)
    except SchemaError as error:
        return f"{error.json_path[:_MAX_CHARACTERS]}: {error.message[:_MAX_CHARACTERS]}"
    except RecursionError:
        return "$: it is nested too deeply."


def data_faults(data: Any, schema: Any, *, root: str = "$") -> tuple[str, ...]:
    """Return the places where data violates a valid schema, as one sentence each with the path.

    The path begins with `root`; a schema of None accepts all data.
    """
    if schema is None:
        return ()
    validator = Draft202012Validator(schema, registry=Registry())
    try:
        errors = list(islice(validator.iter_errors(data), MAX_FAULTS))
    except Unresolvable as error:
        return (_sentence(root, f"the schema's reference {error.ref!r} leads nowhere."),)
    except RecursionError:
        return (_sentence(root, "the schema refers to itself without an end."),)
    errors.sort(key=lambda one: list(map(str, one.path)))
    return tuple(
        _sentence(root, one.message[:_MAX_CHARACTERS], one.absolute_path) for one in errors
    )


def argument_faults(arguments: JsonObject, schema: Any) -> tuple[str, ...]:
    """Return the violations of a call's schema: each sentence begins with the argument."""
    required = schema.get("required") if isinstance(schema, Mapping) else None
    names = required if isinstance(required, list | tuple) else ()
    missing = [f"{name} is missing" for name in names if name not in arguments]
    present = {**schema, "required": []} if missing else schema
    return (*missing, *data_faults(arguments, present, root=""))


def self_contained(schema: JsonObject) -> JsonObject:
    """Return a schema of pydantic without references and titles, the best form for models."""
    definitions = cast("Mapping[str, Json]", schema.get("$defs", {}))
    return {
        name: _inlined(value, definitions=definitions, key=name)
        for name, value in schema.items()
        if name not in _NOISE and name != "$defs"
    }


def simplified(schema: JsonObject) -> JsonObject:
    """Return a schema in the members that Gemini's own API knows: one type, no references.

    Values that it accepts are accepted by the schema, apart from details such as formats.
    """
    return _simplified(schema, top=schema, depth=0)


def resolve_reference(schema: JsonObject, top: JsonObject) -> JsonObject:
    """Return a schema with the members of the definition that its `$ref` names."""
    kind, _, name = text_of(schema.get("$ref")).removeprefix("#/").partition("/")
    if kind not in ("$defs", "definitions"):
        return schema
    others = {key: value for key, value in schema.items() if key != "$ref"}
    return {**object_of(object_of(top.get(kind)).get(name)), **others}


def _simplified(node: Json, *, top: JsonObject, depth: int) -> JsonObject:
    schema = resolve_reference(object_of(node), top) if depth < _MAX_DEPTH else {}
    for branches in _BRANCHES:
        found = (one for one in objects_of(schema.get(branches)) if one.get("type") != "null")
        schema = {**next(found, {}), **schema}
    types = list_of(schema.get("type")) or [schema.get("type")]
    guess = "object" if "properties" in schema else "array" if "items" in schema else "string"
    type_ = next((one for one in types if isinstance(one, str) and one != "null"), guess)
    simple: dict[str, Json] = {"type": type_}
    if text_of(schema.get("description")):
        simple["description"] = schema["description"]
    choices = [*list_of(schema.get("enum")), *([schema["const"]] if "const" in schema else [])]
    if type_ == "string" and choices:
        simple["enum"] = [str(one) for one in choices if one is not None]
    if type_ == "array":
        simple["items"] = _simplified(schema.get("items"), top=top, depth=depth + 1)
    if type_ == "object":
        properties = object_of(schema.get("properties"))
        simple["properties"] = {
            key: _simplified(one, top=top, depth=depth + 1) for key, one in properties.items()
        }
        if required := [one for one in list_of(schema.get("required")) if one in properties]:
            simple["required"] = required
    return simple


def _inlined(node: Json, *, definitions: Mapping[str, Json], key: str = "") -> Json:
    match node:
        case {"$ref": str(ref)}:
            return _inlined(definitions[ref.rpartition("/")[2]], definitions=definitions)
        case dict():
            named = key == "properties"  # here `title` and `default` are names of parameters
            return {
                name: _inlined(value, definitions=definitions, key="" if named else name)
                for name, value in node.items()
                if named or name not in _NOISE
            }
        case list():
            return [_inlined(value, definitions=definitions) for value in node]
    return node


def _reference_fault(schema: Any) -> str:
    """Return what is wrong with a reference; the library resolves it only when it checks data."""
    resolver = Registry().with_resource("", DRAFT202012.create_resource(schema)).resolver()
    for reference in sorted(set(_references(schema))):
        if not reference.startswith("#"):
            return f"$: the reference {reference[:_MAX_CHARACTERS]!r} leads outside the schema."
        try:
            Draft202012Validator.check_schema(resolver.lookup(reference).contents)
        except (Unresolvable, SchemaError, TypeError, ValueError):  # the last two of the library
            return f"$: the reference {reference[:_MAX_CHARACTERS]!r} leads to no schema."
    return ""


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        yield from (node[name] for name in _REFERENCES if isinstance(node.get(name), str))
        node = list(node.values())
    if isinstance(node, list):
        for member in node:
            yield from _references(member)


def _sentence(root: str, message: str, steps: Iterable[str | int] = ()) -> str:
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    path = (root + "".join(parts)).removeprefix(".")[:_MAX_CHARACTERS]
    return f"{path}: {message}" if path else message
