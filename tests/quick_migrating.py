"""Makes the tables of a run for less than what it costs Django."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.migrations.state import ProjectState
from django.db.models import Field
import pytest

KNOWN = "_known_parts"


@contextmanager
def quick_migrating() -> Iterator[None]:
    """Takes each field apart once, and makes a model anew where it has changed.

    Django makes those that are related anew, too, for each step of each migration: 75,000 fields, of
    which hardly one has changed.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Field, "clone", _clone)
        patch.setattr(ProjectState, "_find_reload_model", _changed)
        yield


def _clone(field: Any) -> Any:
    """A field of the same kind and arguments, as `Field.clone` makes it."""
    if KNOWN not in vars(field):
        _name, _path, positional, named = field.deconstruct()
        vars(field)[KNOWN] = (positional, named)
    positional, named = vars(field)[KNOWN]
    return type(field)(*positional, **named)


_find_reload_model = vars(ProjectState)["_find_reload_model"]  # with all that are related


def _changed(
    state: Any, app_label: str, model_name: str, delay: bool = False
) -> set[tuple[str, str]]:
    """The models to be made anew for a step.

    Of a step that touches no relation (`delay`) nobody asks for what is related to the model; before
    a function that a migration calls Django makes all of them anew.
    """
    if not delay:
        related: set[tuple[str, str]] = _find_reload_model(state, app_label, model_name)
        return related
    state.is_delayed = True
    return {(app_label, model_name)}
