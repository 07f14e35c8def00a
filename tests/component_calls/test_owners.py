"""A call of a component over HTTP is its user's; if he is erased meanwhile, nothing of it is kept."""

from datetime import UTC, datetime

from django.utils import timezone
import pytest

from copilot_admin.component_calls import records
from copilot_admin.component_calls.records import Owner, keep, owner_of
from copilot_admin.copilots.users import AskingUser
from copilot_admin.errors import Unavailable
from copilot_admin.models import CallStatus, ComponentCall, EndUser
from copilot_admin.storage.writer import WRITER
from copilot_admin.telemetry.run_log import ThrottledWarnings

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
ADA = AskingUser(id="ada")
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def call() -> ComponentCall:
    return ComponentCall(
        component="c", version="v", action="run", status=CallStatus.DONE, ms=1,
        created_at=timezone.now(),
    )  # fmt: skip


def settle() -> None:
    WRITER.submit(lambda: None).result()


def test_a_call_is_its_users():
    keep(call(), owner=owner_of(ADA, at=NOW))
    keep(call(), owner=owner_of(None, at=NOW))
    settle()
    users = ComponentCall.objects.order_by("pk").values_list("user__identifier", flat=True)
    assert list(users) == ["ada", None]


def test_a_call_of_who_was_erased_meanwhile_brings_him_not_back():
    owner = owner_of(ADA, at=NOW)
    settle()
    EndUser.objects.all().delete()
    keep(call(), owner=owner)
    settle()
    assert not ComponentCall.objects.exists() and not EndUser.objects.exists()


def test_who_could_not_be_written_at_first_is_written_with_the_call(monkeypatch, caplog):
    class Full:
        def submit(self, job):
            raise Unavailable("The queue is full.")

    with monkeypatch.context() as patched:
        patched.setattr(records, "WRITER", Full())
        patched.setattr(records, "UNRECORDED", ThrottledWarnings(records.logger))
        owner = owner_of(ADA, at=NOW)
    assert (owner, "not recorded yet: The queue is full." in caplog.text) == (Owner(ADA, NOW), True)
    keep(call(), owner=owner)
    settle()
    assert ComponentCall.objects.get().user == EndUser.objects.get()
