"""Plain SQL takes and gives the values that the ORM does."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
import json

import pytest

from copilot_admin.models import Feedback, Outcome, Run, SeenKind, SeenValue
from copilot_admin.storage.sql import (
    delete_rows,
    execute,
    fetch_row,
    read_time,
)
from tests.factories import make_version

pytestmark = [pytest.mark.database, pytest.mark.django_db]
AT = datetime(2026, 11, 20, 12, 0, 0, 250_000, tzinfo=UTC)
UPDATE = """
UPDATE copilot_admin_run SET heartbeat_at = %(at)s, cost = %(cost)s, notes = %(notes)s,
    outcome = %(outcome)s, is_counted = %(counted)s WHERE id = %(id)s
"""
SELECT = "SELECT heartbeat_at, notes FROM copilot_admin_run WHERE id = %(id)s"


@pytest.fixture
def run() -> Run:
    version = make_version()
    return Run.objects.create(copilot_id=version.copilot_id, started_at=AT, heartbeat_at=AT)


@pytest.mark.parametrize("at", [AT, AT.astimezone(timezone(timedelta(hours=5)))])
def test_values_are_stored_as_the_orm_stores_them(run: Run, at: datetime):
    cost, notes = Decimal("0.0125"), ["é", {"a": 1}]
    values = {"at": at, "cost": cost, "notes": notes, "outcome": Outcome.FAILED, "counted": True}
    assert execute(UPDATE, id=run.pk, **values) == 1
    run.refresh_from_db()
    assert (run.heartbeat_at, run.cost, run.notes) == (AT, cost, notes)
    assert (run.outcome, run.is_counted) == (Outcome.FAILED, True)
    row = fetch_row(SELECT, id=run.pk, lock="copilot_admin_run")
    assert row is not None
    assert read_time(row["heartbeat_at"]) == AT
    assert json.loads(row["notes"]) == notes


def test_rows_are_deleted_by_the_values_of_a_column():
    kind = SeenKind.MODEL
    SeenValue.objects.bulk_create(SeenValue(kind=kind, value=value) for value in "abc")
    assert delete_rows(SeenValue._meta.get_field("value"), ["a", "c", "d"]) == 2
    assert delete_rows(Feedback._meta.pk, []) == 0
    assert SeenValue.objects.get().value == "b"
