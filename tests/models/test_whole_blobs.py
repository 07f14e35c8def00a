"""Blobs that earlier versions stored in parts become whole values under their own keys."""

from hashlib import sha256
from importlib import import_module
import json
from types import SimpleNamespace
from typing import Any
import zlib

from django.apps import apps
from django.db import connection
import pytest

from copilot_admin.models import Blob, Event, Node, Run
from copilot_admin.storage import blobs
from copilot_admin.transcripts.queries import read_request
from tests.transcripts.store.journaling import Client

pytestmark = [pytest.mark.database, pytest.mark.django_db]
migration = import_module("copilot_admin.migrations.0006_whole_blobs")
ROWS: Any = [{"day": day, "$ref": "x" * 100} for day in range(60)]


def store_part(value: Any) -> dict[str, str]:
    """Store a part as earlier versions did; return the reference to it."""
    data = json.dumps(value, separators=(",", ":")).encode()
    sha = sha256(data).hexdigest()
    values = {"data": zlib.compress(data), "size": len(data)}
    Blob.objects.get_or_create(sha256=sha, defaults=values)
    return {"$blob": sha}


def store_rows() -> dict[str, str]:
    """Store rows as a list of runs of rows, whose own keys with a dollar have one more."""
    escaped = [{key.replace("$", "$$"): value for key, value in row.items()} for row in ROWS]
    runs = [store_part(escaped[start : start + 20]) for start in (0, 20, 40)]
    return store_part({"$list": [store_part({"$list": runs[:2]}), runs[2]]})


def migrate() -> None:
    parts = SimpleNamespace(objects=SimpleNamespace(all=lambda: SimpleNamespace(delete=list)))
    models = SimpleNamespace(
        get_model=lambda app, name: parts if name == "BlobPart" else apps.get_model(app, name)
    )
    editor = SimpleNamespace(connection=connection, execute=lambda sql: None)
    migration.store_whole(models, editor)


def test_parts_become_whole_values_and_the_fields_of_requests():
    asked = Client().ask("Hi").answer("Hello")
    table = {"content": store_rows(), "$$small": [1, {"a": "$5"}]}
    payload = store_part(table)["$blob"]
    request = store_part({"context": store_rows(), "widgets": {"primary": []}, "timezone": "UTC"})
    Event.objects.create(run_id=asked.run_id, ord=0, type="artifact", blob_id=payload)
    Node.objects.filter(role="ai").update(blob=payload)
    Run.objects.update(env=request["$blob"])

    migrate()

    whole = {"content": ROWS, "$small": [1, {"a": "$5"}]}
    keys = {Event.objects.get().blob_id, Node.objects.get(role="ai").blob_id}
    assert blobs.load(filter(None, keys)) == {blobs.to_blob(whole).sha: whole}
    run = asked.run
    assert read_request(run.pk) == {
        "context": ROWS,
        "widgets": {"primary": []},
        "timezone": "UTC",
    }
    assert (run.context_id, run.widgets_id) == (blobs.to_blob(ROWS).sha, None)
    assert set(Blob.objects.values_list("pk", flat=True)) == {*keys, run.env_id, run.context_id}


def test_whole_values_stay_as_they_are():
    asked = Client().ask("Hi", env={"timezone": "UTC", "widgets": {"primary": ["w" * 3000]}})
    before = Run.objects.values_list("env", "widgets").get(), set(Blob.objects.values_list("pk"))
    migrate()
    after = Run.objects.values_list("env", "widgets").get(), set(Blob.objects.values_list("pk"))
    assert after == before
    assert asked.run.widgets_id is not None
