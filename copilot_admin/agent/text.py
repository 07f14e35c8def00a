"""Names and JSON texts in sentences and arguments."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
import json

from protocol.json import Json, JsonObject


def map_object_texts(given: Mapping[str, Json], change: Callable[[str], str]) -> JsonObject:
    """Return an object with each of its texts changed, at any depth."""
    return {change(name): map_texts(value, change) for name, value in given.items()}


def map_texts(value: Json, change: Callable[[str], str]) -> Json:
    """Return a value with each of its texts changed."""
    match value:
        case str():
            return change(value)
        case dict():
            return map_object_texts(value, change)
        case list():
            return [map_texts(one, change) for one in value]
    return value


MAX_VALUES = 750_000  # 5 million characters can have 2.5 million


def parse_json_text(text: str, *, what: str) -> Json:
    """Return the value of a JSON text.

    Args:
        text: JSON; NaN and infinities are accepted, as many libraries write them.
        what: Names it in a sentence, in the plural: "rows".

    Raises:
        ValueError: It is not JSON, it is nested too deeply, or it has too many values.
    """
    if text.count(",") >= MAX_VALUES:
        raise ValueError(f"The {what} have more than {MAX_VALUES:,} JSON values. Send fewer.")
    try:
        value: Json = json.loads(text)
    except RecursionError:
        raise ValueError(f"The {what} are JSON that is nested too deeply.") from None
    except ValueError as error:
        raise ValueError(f"The {what} look like JSON but are none: {error}.") from None
    return value


MAX_NAME_LENGTH = 100  # characters of one
MAX_NAMES = 50  # in an error message for a model


def quote(name: object) -> str:
    """Return a name in quotes, truncated.

    Examples:
        >>> quote("price")
        "'price'"
        >>> quote("x" * 1_000_000) == repr("x" * 100 + "…")
        True
    """
    return repr(truncate(name if isinstance(name, str) else str(name)))


def join_names(names: Iterable[str]) -> str:
    """Return names separated by commas; long lists are truncated.

    Examples:
        >>> join_names(["date", "price"])
        'date, price'
        >>> join_names(map(str, range(80_000))).endswith("48, 49, …")
        True
    """
    left = iter(names)
    first = map(truncate, islice(left, MAX_NAMES))
    return ", ".join((*first, *("…" for _ in islice(left, 1))))


def truncate(text: str, limit: int = MAX_NAME_LENGTH) -> str:
    """Return a text, or its beginning and an ellipsis."""
    return text if len(text) <= limit else f"{text[:limit]}…"
