"""Sections of a form page as Django's admin writes them."""

from typing import Any

Fieldsets = list[tuple[Any, dict[str, Any]]]


def without(fieldsets: Fieldsets, name: str) -> Fieldsets:
    """The same sections without one field."""
    return [
        (label, {**options, "fields": [field for field in options["fields"] if field != name]})
        for label, options in fieldsets
    ]
