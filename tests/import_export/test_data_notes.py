"""Data notes of a copilot: stored, exported and imported as they are."""

import json
from typing import Any

import pytest

from copilot_admin.import_export.changes import Effect
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.importing import import_values
from copilot_admin.models import Copilot, CopilotVersion

NOTES: list[dict[str, Any]] = [
    {
        "kind": "user",
        "description": "Who asks.",
        "data": {"zone": "Rome", "age": 30, "name": "Ada"},
        "schema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
    {"kind": "state", "data": None, "instance": "a", "enabled": False},
]
FILE: dict[str, Any] = {
    "format": 1,
    "providers": [{"name": "Practice", "kind": "demo"}],
    "copilots": [
        {
            "slug": "macro",
            "name": "Macro",
            "provider": "Practice",
            "model": "m",
            "access": "open",
            "data": NOTES,
            "data_messages": {"context": True, "merge": False},
        }
    ],
}


@pytest.mark.django_db
def test_notes_survive_import_publishing_and_export_with_the_order_of_their_keys() -> None:
    import_values(FILE, default_access="open", publishing=True)

    version = CopilotVersion.objects.get()
    for entry in (export_file()["copilots"][0], export_file(live=True)["copilots"][0]):
        assert json.dumps(entry["data"]) == json.dumps(NOTES)
        assert entry["data_messages"] == {"context": True, "merge": False}
    assert version.document["data"] == NOTES
    again = import_values(export_file(), default_access="open", publishing=True)
    assert [change.effect for change in again] == [Effect.UNCHANGED, Effect.UNCHANGED]


@pytest.mark.django_db
def test_absent_keys_take_the_notes_away() -> None:
    import_values(FILE, default_access="open")
    bare = {
        key: value
        for key, value in FILE["copilots"][0].items()
        if key not in ("data", "data_messages")
    }

    import_values({**FILE, "copilots": [bare]}, default_access="open")

    copilot = Copilot.objects.get()
    assert (copilot.data_notes, copilot.data_messages) == ([], {})
    assert not {"data", "data_messages"} & export_file()["copilots"][0].keys()
