"""Texts of an entry that hide their own order: people would read others than they import."""

from collections.abc import Iterator
from typing import Any

from copilot_admin.copilots.fields.directions import turning_sign_fault
from copilot_admin.import_export.faults import FileFault

_NOTES = "data"  # what they hold, others wrote


def turned_texts(entry: Any, *, path: str) -> list[FileFault]:
    """A fault for each text of an entry in which a sign turns the direction."""
    read = {key: value for key, value in entry.document().items() if key != _NOTES}
    texts = list(_texts(read, path))
    texts += [
        (f"{path}.questions[{number}].label", question.label)
        for number, question in enumerate(entry.questions or ())
    ]
    faults = ((where, turning_sign_fault(text)) for where, text in texts)
    return [FileFault(where, wrong) for where, wrong in faults if wrong]


def _texts(value: Any, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _texts(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, f"{path}[{number}]")
