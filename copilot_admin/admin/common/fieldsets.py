"""Sections of a form page as Django's admin writes them."""

from typing import Any

Fieldsets = list[tuple[Any, dict[str, Any]]]


def without(fieldsets: Fieldsets, *names: str) -> Fieldsets:
    """The same sections without some fields, and without sections that held no others."""
    left = [
        (label, {**options, "fields": [one for one in options["fields"] if one not in names]})
        for label, options in fieldsets
    ]
    return [(label, options) for label, options in left if options["fields"]]
