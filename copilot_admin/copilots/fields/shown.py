"""How a key of a record is asked for in a row of the form; it stands beside the key's type."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.utils.functional import Promise
from pydantic import StringConstraints
from pydantic.fields import FieldInfo


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shown:
    """One input of a row. Most keys have one; a key may also have none, or several.

    Attributes:
        name: Of the input, where it is not the key.
        options: The values of a choice, with their labels; the first is chosen at the start.
        is_switch: Whether it is on or off.
        is_optional: Whether it may be left empty though the key has to be there.
        longest: Characters, where the type does not say it.
        lines: Of text; 0: it is one line.
        misfit: What to do where the text does not fit the type's pattern.
    """

    label: str | Promise
    help: str | Promise = ""
    name: str = ""
    options: tuple[tuple[str, str | Promise], ...] = ()
    is_switch: bool = False
    is_optional: bool = False
    longest: int | None = None
    lines: int = 0
    misfit: str | Promise = ""


def shown_in(field: FieldInfo) -> Iterator[Shown]:
    """The inputs by which a form asks for one key of a record."""
    return (one for one in field.metadata if isinstance(one, Shown))


def constraints_of(field: FieldInfo) -> StringConstraints:
    """The limits of a key that is text."""
    found = (one for one in field.metadata if isinstance(one, StringConstraints))
    return next(found, StringConstraints())
