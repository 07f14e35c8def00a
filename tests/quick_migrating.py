"""Makes the tables of a run for less than what it costs Django."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import Field
import pytest

KNOWN = "_known_parts"


@contextmanager
def quick_migrating() -> Iterator[None]:
    """Takes each field apart once.

    Django makes the models anew for each step of each migration: 75,000 fields, of which hardly one
    has changed.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Field, "clone", _clone)
        yield


def _clone(field: Any) -> Any:
    """A field of the same kind and arguments, as `Field.clone` makes it."""
    if KNOWN not in vars(field):
        _name, _path, positional, named = field.deconstruct()
        vars(field)[KNOWN] = (positional, named)
    positional, named = vars(field)[KNOWN]
    return type(field)(*positional, **named)
