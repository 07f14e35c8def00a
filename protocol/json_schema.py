"""Checks schemas and data against schemas, and says of every fault where it is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing.exceptions import Unresolvable

from protocol.json import Json, JsonObject
from protocol.schema_keywords import FORMATS, MOST_FAULTS, Validator, with_few_types
from protocol.walk import values_in

_NOISE = frozenset({"title", "default"})  # pydantic's own names; they only cost tokens
_REFERENCES = ("$ref", "$dynamicRef")
_LONGEST = 300  # characters of a place, and of what is wrong there
_TYPES = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))


def schema_fault(schema: Any) -> str:
    """What is wrong with a schema, with its place in it; empty when it is one.

    References may only lead to places in the schema itself: nothing is ever fetched.

    Examples:
        >>> schema_fault({"type": "object"})
        ''
        >>> schema_fault({"properties": {"age": {"type": "numeral"}}})
        "$.properties.age.type: 'numeral' is not valid under any of the given schemas"
    """
    if schema is None:
        return ""
    try:
        _check(schema)
    except SchemaError as error:
        return _sentence(error)
    except RecursionError:
        return "$: it is nested too deeply."
    objects = list(_objects(schema))
    for one in objects:
        if isinstance(one.get("$id"), str) and one is not schema:
            return f"$: the name {one['$id'][:_LONGEST]!r} within the schema is not supported."
    references = {one[name] for one in objects for name in _REFERENCES if _is_text(one, name)}
    return _reference_fault(sorted(references), schema)


def data_faults(data: Any, schema: Any) -> tuple[str, ...]:
    """Where data does not fit a schema: one sentence a fault, each with the path in the data.

    Args:
        data: Any JSON value.
        schema: A schema without a fault; None: everything fits.

    Examples:
        >>> data_faults({"user": {"age": "thirty"}}, schema_from({"user": {"age": 30}}))
        ("$.user.age: 'thirty' is not of type 'integer'",)
    """
    return _faults(data, schema, said=_sentence, root="$: ")


def named_faults(data: Any, schema: Any) -> tuple[str, ...]:
    """The same in the words of callers: each begins with the name of what is wrong.

    Examples:
        >>> named_faults({"user": {"ages": [1, "x"]}}, schema_from({"user": {"ages": [30]}}))
        ("user.ages[1]: 'x' is not of type 'integer'",)
        >>> named_faults([], {"type": "object"})
        ("[] is not of type 'object'",)
    """
    return _faults(data, schema, said=_named, root="")


def _faults(
    data: Any, schema: Any, *, said: Callable[[ValidationError], str], root: str
) -> tuple[str, ...]:
    if schema is None:
        return ()
    try:
        found = sorted(
            Validator(schema).iter_errors(data), key=lambda one: list(map(str, one.path))
        )
    except Unresolvable as error:
        return (f"{root}the schema's reference {error.ref!r} leads nowhere.",)
    except RecursionError:
        return (f"{root}the schema refers to itself without an end.",)
    return tuple(map(said, found[:MOST_FAULTS]))


def argument_faults(arguments: JsonObject, schema: Any) -> tuple[str, ...]:
    """Where arguments do not fit the schema of a call: each sentence begins with the argument.

    Examples:
        >>> schema = {"required": ["x"], "properties": {"n": {"items": {"type": "integer"}}}}
        >>> argument_faults({"n": [1, "two"]}, schema)
        ('x is missing', "n[1]: 'two' is not of type 'integer'")
    """
    required = schema.get("required") if isinstance(schema, Mapping) else None
    names = required if isinstance(required, list | tuple) else ()
    missing = [f"{name} is missing" for name in names if name not in arguments]
    present = {**schema, "required": []} if missing else schema
    return (*missing, *named_faults(arguments, present))


def schema_from(example: Any) -> dict[str, Any]:
    """The schema that an example is one of, for people to go on from.

    Examples:
        >>> schema_from({"name": "Ada", "tags": ["a"]})["properties"]["tags"]
        {'type': 'array', 'items': {'type': 'string'}}
    """
    if isinstance(example, Mapping):
        return {
            "type": "object",
            "properties": {key: schema_from(value) for key, value in example.items()},
        }
    if isinstance(example, Sequence) and not isinstance(example, str):
        first = {"items": schema_from(example[0])} if example else {}
        return {"type": "array", **first}
    for kind, name in _TYPES:
        if isinstance(example, kind):
            return {"type": name}
    return {}  # null says nothing of what may stand there


def self_contained(schema: JsonObject) -> JsonObject:
    """A generated schema without references and without noise: what models read best.

    Args:
        schema: As pydantic makes it, with `$defs`.
    """
    definitions = cast("Mapping[str, Json]", schema.get("$defs", {}))
    return {
        name: _plain(value, definitions=definitions, key=name)
        for name, value in schema.items()
        if name not in _NOISE and name != "$defs"
    }


def _plain(node: Json, *, definitions: Mapping[str, Json], key: str = "") -> Json:
    match node:
        case {"$ref": str(ref)}:
            return _plain(definitions[ref.rpartition("/")[2]], definitions=definitions)
        case dict():
            named = key == "properties"  # here `title` and `default` are names of parameters
            return {
                name: _plain(value, definitions=definitions, key="" if named else name)
                for name, value in node.items()
                if named or name not in _NOISE
            }
        case list():
            return [_plain(value, definitions=definitions) for value in node]
    return node


def _sentence(error: ValidationError | SchemaError) -> str:
    return f"{error.json_path[:_LONGEST]}: {error.message[:_LONGEST]}"


def _named(error: ValidationError) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    name = "".join(steps).removeprefix(".")[:_LONGEST]
    return f"{name}: {error.message[:_LONGEST]}" if name else error.message[:_LONGEST]


def _objects(schema: Any) -> Iterator[Mapping[str, Any]]:
    pending = [schema]
    while pending:
        one = pending.pop()
        if isinstance(one, Mapping):
            yield one
            pending.extend(one.values())
        elif isinstance(one, list):
            pending.extend(one)


def _is_text(one: Mapping[str, Any], name: str) -> bool:
    return isinstance(one.get(name), str)


def _check(schema: Any) -> None:
    checked = cast("JsonObject", with_few_types(schema))
    Draft202012Validator.check_schema(checked, format_checker=FORMATS)


def _reference_fault(references: Sequence[str], schema: Any) -> str:
    """What is wrong with where references lead: whoever checks data follows them without a look.

    Each place is checked once, and places within each other no more than twice: a few hundred
    references in three kilobytes would hold everybody for seconds.
    """
    left = 2 * values_in(schema)
    checked = {id(schema)}
    for reference in references:
        if not reference.startswith("#"):
            return f"$: the reference {reference[:_LONGEST]!r} leads outside the schema."
        target = _target(reference, schema)
        if id(target) in checked:
            continue
        checked.add(id(target))
        left -= values_in(target)
        if left < 0:
            return "$: its references lead to places within each other too often."
        try:
            _check(target)
        except SchemaError:
            return f"$: the reference {reference[:_LONGEST]!r} leads to what is no schema."
    return ""


def _target(reference: str, schema: Any) -> Any:
    target = schema
    for step in unquote(reference[1:]).split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        try:
            target = target[int(name)] if isinstance(target, Sequence) else target[name]
        except LookupError:
            return True
        except (TypeError, ValueError):
            return None  # within a number, or by name in a list
    return target
