"""Keywords of JSON Schema that cost no more than what they look at: the library's cost its square."""

from collections.abc import Callable, Iterator
from itertools import islice
import re
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from protocol.json import Json

MOST_FAULTS = 10  # more of them say nothing new
LONGEST_PATTERN = 1000  # characters: to compile a million takes 3 seconds
MOST_TYPES = 7  # there are no more
_Check: TypeAlias = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


def _first_faults(check: _Check) -> _Check:
    """What a keyword finds, and no more than is told.

    A list of 200,000 numbers where objects are wanted has as many faults, each with a text of its
    own: 4 seconds and 700 MB.
    """

    def checked(
        validator: Any, wanted: Any, data: Any, schema: Any
    ) -> Iterator[ValidationError] | None:
        found = check(validator, wanted, data, schema)
        return None if found is None else islice(found, MOST_FAULTS)

    return checked


def _unique_items(validator: Any, wanted: Any, data: Any, schema: Any) -> Iterator[ValidationError]:
    """The library compares each of them with each where they cannot be sorted: 20,000 took minutes."""
    if wanted and validator.is_type(data, "array") and len(set(map(_key, data))) < len(data):
        yield ValidationError(f"{data!r} has non-unique elements")


def _key(value: Json) -> object:
    """The same for what JSON Schema takes for the same: 1 and 1.0, but neither true nor "1"."""
    match value:
        case bool() | None:
            return ("word", value)
        case int():
            return ("number", hex(value))  # whose hash nobody can foresee
        case float():
            return ("number", hex(int(value)) if value.is_integer() else value.hex())
        case list() | tuple():
            return ("array", *map(_key, value))
        case dict():
            return ("object", frozenset((name, _key(one)) for name, one in value.items()))
    return value


def _is_pattern(value: object) -> bool:
    if not isinstance(value, str):
        return True
    if len(value) > LONGEST_PATTERN:
        return False
    re.compile(value)
    return True


# What data is checked with; a schema itself is checked with the library's own.
Validator = extend(  # type: ignore[no-untyped-call]  # of jsonschema
    Draft202012Validator,
    {
        **{word: _first_faults(check) for word, check in Draft202012Validator.VALIDATORS.items()},
        "uniqueItems": _unique_items,
    },
)
FORMATS = FormatChecker(())  # of schemas: the others say nothing of what is done with one
FORMATS.checks("regex", raises=(re.error, OverflowError, RecursionError))(_is_pattern)


def with_few_types(schema: Json) -> Json:
    """The schema as it is checked: each list of types as far as a right one can be long.

    The library compares each of them with each where they are not all texts.
    """
    match schema:
        case dict():
            return {
                name: value[: MOST_TYPES + 1]
                if name == "type" and isinstance(value, list)
                else with_few_types(value)
                for name, value in schema.items()
            }
        case list():
            return [with_few_types(one) for one in schema]
    return schema
