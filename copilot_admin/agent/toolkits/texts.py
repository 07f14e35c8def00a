"""Short texts that toolkits share."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
import json

from protocol.json import Json, JsonObject


def changed_object(given: Mapping[str, Json], change: Callable[[str], str]) -> JsonObject:
    """An object with each of its texts changed, however deep it lies."""
    return {change(name): changed_value(value, change) for name, value in given.items()}


def changed_value(value: Json, change: Callable[[str], str]) -> Json:
    """A value with each of its texts changed."""
    match value:
        case str():
            return change(value)
        case dict():
            return changed_object(value, change)
        case list():
            return [changed_value(one, change) for one in value]
    return value


MAX_VALUES = 750_000  # 5 million characters can hold 2.5 million


def json_in(text: str, *, what: str) -> Json:
    """The value that a text is.

    Args:
        text: JSON; NaN and infinities are read too, as many a library writes them.
        what: Names it in a sentence, in the plural: "rows".

    Raises:
        ValueError: It is none, it is nested too deeply, or it has too many values.
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


LONGEST = 100  # characters of one
MOST = 50  # what a model is to choose from fits; of thousands it would be told nothing


def quoted(name: object) -> str:
    """A name in quotes.

    Examples:
        >>> quoted("price")
        "'price'"
        >>> quoted("x" * 1_000_000) == repr("x" * 100 + "…")
        True
    """
    return repr(cut(name if isinstance(name, str) else str(name)))


def listed(names: Iterable[str]) -> str:
    """Some names in a row; of very many the first.

    Examples:
        >>> listed(["date", "price"])
        'date, price'
        >>> listed(map(str, range(80_000))).endswith("48, 49, …")
        True
    """
    left = iter(names)
    first = map(cut, islice(left, MOST))
    return ", ".join((*first, *("…" for _ in islice(left, 1))))


def cut(name: str) -> str:
    """The beginning of a name that is too long to be repeated."""
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
