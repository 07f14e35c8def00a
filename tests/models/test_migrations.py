"""Rows that were written before a migration are read after it; on whichever database this is."""

from collections.abc import Iterator
from typing import Any

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
import pytest

from copilot_admin.models import Copilot, CopilotVersion

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
APP = "copilot_admin"
DOCUMENT: dict[str, Any] = {
    "name": "Macro",
    "zone": "Rome €",
    "a": {"tags": ["x", 'a "quote"', "\\n"], "empty": {}, "none": None},
    "numbers": [0, -1, 2.5, 0.001, 12345678901234567890],
}


def migrate(name: str) -> Any:
    """Takes the database to a migration; returns the models of that time."""
    executor = MigrationExecutor(connection)
    executor.migrate([(APP, name)])
    return MigrationExecutor(connection).loader.project_state([(APP, name)]).apps


@pytest.fixture(autouse=True)
def _newest_afterwards() -> Iterator[None]:
    newest = [name for app, name in MigrationExecutor(connection).loader.graph.leaf_nodes(APP)]
    yield
    for name in newest:
        migrate(name)


def column_type(table: str, column: str) -> str:
    with connection.cursor() as cursor:
        described = connection.introspection.get_table_description(cursor, table)
        [found] = [one for one in described if one.name == column]
        return connection.introspection.get_field_type(found.type_code, found)


def stored_before(apps: Any) -> None:
    provider = apps.get_model(APP, "Provider").objects.create(name="Practice", kind="rehearsal")
    for number in (1, 2):
        copilot = apps.get_model(APP, "Copilot").objects.create(
            slug=f"macro-{number}", name=f"Macro {number}", provider=provider, model="m"
        )
        apps.get_model(APP, "CopilotVersion").objects.create(
            copilot=copilot, number=1, provider=provider, document={**DOCUMENT, "number": number}
        )


def test_documents_from_before_data_notes_survive_the_way_there_back_and_to_the_newest() -> None:
    """One way for all, since each migration takes as long as most tests."""
    stored_before(migrate("0004_ordered_payload_and_key_scope"))
    migrate("0005_data_notes")

    apps = migrate("0004_ordered_payload_and_key_scope")

    documents = apps.get_model(APP, "CopilotVersion").objects.order_by("pk")
    assert [one.document["numbers"] for one in documents] == [DOCUMENT["numbers"]] * 2

    newest = MigrationExecutor(connection).loader.graph.leaf_nodes(APP)
    migrate(newest[0][1])

    versions = CopilotVersion.objects.order_by("pk")
    assert [one.document for one in versions] == [
        {**DOCUMENT, "number": number} for number in (1, 2)
    ]
    assert column_type("copilot_admin_copilotversion", "document") == "TextField"
    assert [(one.data_notes, one.data_messages) for one in Copilot.objects.all()] == [
        ([], {}),
        ([], {}),
    ]

    version = versions[0]
    CopilotVersion.objects.filter(pk=version.pk).update(document={"zz": 1, "b": 2, "a": 3})
    assert list(CopilotVersion.objects.get(pk=version.pk).document) == ["zz", "b", "a"]
