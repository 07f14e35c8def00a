"""Names and JSON texts in sentences and arguments."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
import json
from typing import TypeVar, cast

from protocol.json import Json

_Value = TypeVar("_Value", bound=Json)
MAX_VALUES = 750_000  # 5 million characters can have 2.5 million
MAX_NAME_LENGTH = 100  # characters of one
MAX_NAMES = 50  # in an error message for a model
# The mark of a footnote must not become the last digit of a number.
SUPERSCRIPTS = str.maketrans(
    "0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
)


def map_texts(value: _Value, change: Callable[[str], str]) -> _Value:
    """Return a value with each of its texts changed, at any depth."""
    changed: Json = value
    match value:
        case str():
            changed = change(value)
        case Mapping():
            changed = {change(name): map_texts(one, change) for name, one in value.items()}
        case list() | tuple():
            changed = [map_texts(one, change) for one in value]
    return cast(_Value, changed)


def parse_json_text(text: str, *, what: str) -> Json:
    """Return the value of a JSON text, also with NaN and infinities, as many libraries write them.

    `what` names it, in the plural, in a `ValueError`: "rows".
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


def quote(name: object) -> str:
    return repr(truncate(str(name)))


def join_names(names: Iterable[str]) -> str:
    """Return names separated by commas; long lists are truncated."""
    left = iter(names)
    first = map(truncate, islice(left, MAX_NAMES))
    return ", ".join((*first, *("…" for _ in islice(left, 1))))


def truncate(text: str, limit: int = MAX_NAME_LENGTH) -> str:
    return text if len(text) <= limit else f"{text[:limit]}…"
