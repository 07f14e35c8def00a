"""Checks schemas and data against schemas, and says of every fault where it is."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing.exceptions import Unresolvable

from protocol.json import Json, JsonObject

_NOISE = frozenset({"title", "default"})  # pydantic's own names; they only cost tokens
_MOST_FAULTS = 10  # more of them say nothing new
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
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return _sentence(error)
    except RecursionError:
        return "$: it is nested too deeply."
    foreign = next(_foreign_references(schema), None)
    return f"$: the reference {foreign!r} leads outside the schema." if foreign else ""


def data_faults(data: Any, schema: Any) -> tuple[str, ...]:
    """Where data does not fit a schema: one sentence a fault, each with the path in the data.

    Args:
        data: Any JSON value.
        schema: A schema without a fault; None: everything fits.

    Examples:
        >>> data_faults({"user": {"age": "thirty"}}, schema_from({"user": {"age": 30}}))
        ("$.user.age: 'thirty' is not of type 'integer'",)
    """
    if schema is None:
        return ()
    try:
        found = sorted(
            Draft202012Validator(schema).iter_errors(data), key=lambda one: list(map(str, one.path))
        )
    except Unresolvable as error:
        return (f"$: the schema's reference {error.ref!r} leads nowhere.",)
    except RecursionError:
        return ("$: the schema refers to itself without an end.",)
    return tuple(map(_sentence, found[:_MOST_FAULTS]))


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
    return f"{error.json_path}: {error.message[:300]}"


def _foreign_references(schema: Any) -> Any:
    pending = [schema]
    while pending:
        one = pending.pop()
        if isinstance(one, Mapping):
            for key, value in one.items():
                if key in ("$ref", "$dynamicRef") and isinstance(value, str):
                    if not value.startswith("#"):
                        yield value
                else:
                    pending.append(value)
        elif isinstance(one, list):
            pending.extend(one)
