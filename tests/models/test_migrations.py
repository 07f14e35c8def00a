"""Rows that were written before a migration are read after it; on whichever database this is."""

from collections.abc import Iterator
from copy import copy
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
import pytest

from copilot_admin.models import (
    Conversation,
    Copilot,
    CopilotVersion,
    DailyTotal,
    DailyUsage,
    Feedback,
    HourlyUsage,
    ModelPrice,
    Run,
    Turn,
)

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
APP = "copilot_admin"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
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


def asked_before(apps: Any) -> None:
    """A conversation with one question in two requests, from before there were costs."""
    copilot = apps.get_model(APP, "Copilot").objects.get(slug="macro-1")
    conversation = apps.get_model(APP, "Conversation").objects.create(
        copilot=copilot, principal="anonymous", first_at=NOON, last_at=NOON, n_turns=1, n_runs=2
    )
    turns = apps.get_model(APP, "Turn").objects
    turn = turns.create(conversation=conversation, started_at=NOON)
    turns.create(conversation=conversation, started_at=NOON)
    for _ in range(2):
        apps.get_model(APP, "Run").objects.create(
            copilot=copilot, conversation=conversation, turn=turn, started_at=NOON,
            heartbeat_at=NOON, boot_id="b", outcome="completed", input_tokens=5,
        )  # fmt: skip
    apps.get_model(APP, "DailyUsage").objects.create(day=NOON.date(), copilot=copilot, runs=2)


def costs() -> list[Any]:
    """What is said of costs: of conversations, turns, days and runs."""
    sums = (Conversation.objects, Turn.objects.order_by("pk"))
    return [
        *(list(rows.values_list("cost", "n_unpriced", "cost_is_estimated")) for rows in sums),
        list(DailyUsage.objects.values_list("cost", "unpriced")),
        list(Run.objects.values_list("cost", "cost_confidence")),
    ]


@pytest.mark.nightly  # every migration there is, twice; none of these changes any more
def test_documents_from_before_data_notes_survive_the_way_there_back_and_to_the_newest() -> None:
    """One way for all, since each migration takes as long as most tests."""
    before = migrate("0004_ordered_payload_and_key_scope")
    stored_before(before)
    asked_before(before)
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

    # What was answered before there were prices is of unknown cost, which is not 0.
    assert costs() == [
        [(0, 2, False)],
        [(0, 2, False), (0, 0, False)],
        [],  # counted anew in the background, from the log
        [(None, "unknown"), (None, "unknown")],
    ]
    price = ModelPrice.objects.values_list("provider__name", "model", "input", "output").get()
    assert price == ("Practice", "rehearsal", Decimal(0), Decimal(0))

    version = versions[0]
    CopilotVersion.objects.filter(pk=version.pk).update(document={"zz": 1, "b": 2, "a": 3})
    assert list(CopilotVersion.objects.get(pk=version.pk).document) == ["zz", "b", "a"]


def names_of_indexes() -> set[str]:
    with connection.cursor() as cursor:
        found = connection.introspection.get_constraints(cursor, "copilot_admin_run")
    return {name for name, one in found.items() if one["index"]}


@pytest.mark.nightly
def test_of_judgements_that_raced_the_newest_stays_and_the_index_of_callers_is_made_once() -> None:
    """One way for both, as above."""
    old = migrate("0041_privacy")
    stored_before(old)
    asked_before(old)
    feedback, turns = old.get_model(APP, "Feedback").objects, Turn.objects.order_by("pk")
    twice, once = turns.values_list("pk", flat=True)
    for turn, source, value in (
        (twice, "end_user", 1),
        (twice, "reviewer", 1),
        (twice, "end_user", -1),
        (once, "end_user", 1),
    ):
        feedback.create(turn_id=turn, source=source, value=value, counted=value)
    counted = {
        "copilot": old.get_model(APP, "Copilot").objects.get(slug="macro-1"),
        "up": 2,
        "down": 1,
    }
    old.get_model(APP, "HourlyUsage").objects.create(hour=NOON, **counted)
    old.get_model(APP, "DailyUsage").objects.update(up=2, down=1)
    old.get_model(APP, "DailyTotal").objects.create(day=NOON.date(), **counted)
    old.get_model(APP, "Conversation").objects.update(n_up=3, n_down=1)
    migrate("0043_feedback_once")
    kept = Feedback.objects.order_by("pk").values_list("turn", "source", "value")
    assert list(kept) == [(twice, "reviewer", 1), (twice, "end_user", -1), (once, "end_user", 1)]
    assert list(Conversation.objects.values_list("n_up", "n_down")) == [(2, 1)]
    for rollup in (HourlyUsage, DailyUsage, DailyTotal):
        assert list(rollup.objects.values_list("up", "down")) == [(1, 1)]
    with pytest.raises(IntegrityError):
        Feedback.objects.create(turn_id=once, source="end_user", value=1)

    assert "run_of_caller" not in names_of_indexes()
    with connection.cursor() as cursor:  # as a database has it that 0037 once gave it to
        cursor.execute("CREATE INDEX run_of_caller ON copilot_admin_run (principal, started_at)")
    migrate("0045_index_of_callers_and_trail")
    assert "run_of_caller" in names_of_indexes()
    migrate("0043_feedback_once")
    migrate("0045_index_of_callers_and_trail")
    assert "run_of_caller" in names_of_indexes()


NOT_IN_A_TRANSACTION = [
    name
    for (app, name), migration in sorted(MigrationLoader(None).disk_migrations.items())
    if app == APP and not migration.atomic
]


@pytest.mark.nightly  # as above: the way to each of them and back for every place where it may stop
@pytest.mark.parametrize("name", NOT_IN_A_TRANSACTION)
def test_a_migration_that_was_killed_is_begun_again_wherever_it_stopped(name):
    """Of one that is in no transaction the beginning stays, and it failed at it from then on."""
    loader = MigrationExecutor(connection).loader
    [before] = [
        parent for parent in loader.disk_migrations[APP, name].dependencies if parent[0] == APP
    ]
    for count in range(1, len(loader.disk_migrations[APP, name].operations) + 1):
        migrate(before[1])
        state = MigrationExecutor(connection).loader.project_state([before])
        killed = copy(loader.disk_migrations[APP, name])
        killed.operations = killed.operations[:count]
        with connection.schema_editor(atomic=False) as editor:
            killed.apply(state, editor)
        migrate(name)
    assert NOT_IN_A_TRANSACTION
