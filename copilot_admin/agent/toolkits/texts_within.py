"""Changes the texts within a value of JSON, those of names too."""

from collections.abc import Callable, Mapping

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
