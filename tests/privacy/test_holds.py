"""A legal hold stops every way in which a transcript can be deleted."""

from collections.abc import Callable
from datetime import timedelta

from django.urls import reverse
from django.utils import timezone
import pytest

from copilot_admin import models
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.copilots.live_settings import archive_copilots
from copilot_admin.jobs import removal as removal_job
from copilot_admin.jobs.deletion import delete_batch
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.management.commands import privacy as command
from copilot_admin.models import ComponentCall, Conversation, Copilot, EndUser, Run
from copilot_admin.privacy import erased_data, holds, retention, rows
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.storage.spool import SPOOL
import copilot_admin.urls  # noqa: F401  # registers the models of the admin
from tests.factories import make_key, make_user, make_version
from tests.jobs.test_deletion import fill
from tests.jobs.test_removal import remove
from tests.transcripts.store.journaling import START, Client

pytestmark = pytest.mark.django_db
ADA = AskingUser(id="ada", name="Ada")


@pytest.fixture
def version(monkeypatch, settings, tmp_path):
    """A copilot with everything that somebody can leave: all of it is Ada's, long ago."""
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(removal_job, "vacuum", lambda **_: None)
    monkeypatch.setattr(removal_job, "truncate_wal", lambda: True)
    monkeypatch.setattr(command.clock, "sleep", lambda _: None)
    (key, _text), version = make_key(), make_version()
    fill(version, conversations=1)
    client = {"version": version, "user": ADA, "principal": f"key:{key.pk}"}
    Client(**client, trace_id="talk").ask("q").answer("a")
    Client(**client, logging=models.Logging.NOTHING).ask("q").answer("a")
    ada = EndUser.objects.get()
    Conversation.objects.update(user=ada, principal=f"key:{key.pk}")
    Run.objects.update(user=ada, principal=f"key:{key.pk}")
    ComponentCall.objects.update(user=ada, key=key, created_at=START)
    Copilot.objects.update(retention_days=1)
    SPOOL.put(Run.objects.earliest("started_at").pk, {})
    return version


def evidence() -> dict[str, list[object]]:
    """All that a hold keeps: each row, and what waits in the spool."""
    talks = list(Conversation.objects.values_list("pk", flat=True))
    kept = [*rows.get_conversation_rows(talks), Run.objects.all(), ComponentCall.objects.all()]
    kept += [EndUser.objects.all(), models.Blob.objects.all(), Copilot.objects.all()]
    kept += [models.CallerDay.objects.all(), models.CopilotVersion.objects.all()]
    kept += [models.EndpointKey.objects.all()]
    found: dict[str, list[object]] = {}
    for these in kept:
        found[these.model.__name__] = sorted(these.values_list("pk", flat=True), key=str)
    return {**found, "spool": sorted(map(str, SPOOL.run_ids()))}


def _removed(scope: Callable[[], PrivacyScope]) -> Callable[[object], object]:
    return lambda _client: remove(scope())


def _deleted_by_page(client) -> None:
    copilot = Copilot.objects.get()
    archive_copilots([copilot.pk])
    client.post(reverse("admin:copilot_admin_copilot_delete", args=[copilot.pk]), {"post": "yes"})
    _all_batches()


def _all_batches() -> None:
    for pk in Copilot.objects.filter(deletion_requested_at__isnull=False).values_list("pk"):
        while delete_batch(*pk) is BatchResult.MORE:
            pass


def _deletion_that_runs(_client) -> None:
    """Marked before the hold came."""
    off = {"enabled": False, "live": None, "archived_at": None}
    Copilot.objects.update(**off, deletion_requested_at=timezone.now())
    _all_batches()


def _erased_by_page(client) -> None:
    given = {"user": "Ada", "reason": "r", "with_questions": "on", "sure": "1"}
    client.post(reverse("admin:privacy_erase"), given)
    for removal in models.Removal.objects.all():
        remove(removal=removal)


def _pruned_by_night(_client) -> None:
    for pk in retention.begin_pruning(timezone.now().replace(hour=23)):
        remove(removal=models.Removal.objects.get(pk=pk))


def _spool_of_erased(_client) -> None:
    """An erasure that meant it, before the spool is looked through."""
    remove(PrivacyScope(user=EndUser.objects.get().pk))
    erased_data.clean_spool()


PATHS: dict[str, Callable[[object], object]] = {
    "erasing a conversation": _removed(
        lambda: PrivacyScope(conversation=Conversation.objects.earliest("pk").pk)
    ),
    "erasing a user": _removed(lambda: PrivacyScope(user=EndUser.objects.get().pk)),
    "erasing a caller": _removed(
        lambda: PrivacyScope(principal=Run.objects.earliest("started_at").principal)
    ),
    "erasing a copilot": _removed(lambda: PrivacyScope(copilot=Copilot.objects.get().pk)),
    "erasing a period": _removed(lambda: PrivacyScope(since=START - timedelta(days=1))),
    "erasing by a page": _erased_by_page,
    "pruning at night": _pruned_by_night,
    "deleting a copilot on its page": _deleted_by_page,
    "a deletion that runs when the hold comes": _deletion_that_runs,
    "the spool of what is erased": _spool_of_erased,
}


def everyones_hold() -> models.LegalHold:
    """By a period that names no row, so that no foreign key helps."""
    return holds.place(PrivacyScope(since=START - timedelta(days=9)), reason="Case 12", by="ann")


@pytest.mark.database
@pytest.mark.parametrize("path", PATHS)
def test_nothing_leaves_while_it_is_held_and_all_of_it_afterwards(
    path, version, client, settings, capsys
):
    """The second half shows that the way leads somewhere."""
    settings.PRUNE_HOUR = 0
    client.force_login(make_user(is_superuser=True))
    hold = everyones_hold()
    before = evidence()
    PATHS[path](client)
    Copilot.objects.update(archived_at=None)
    assert evidence() == before
    holds.release(hold.pk, by="ann")
    models.Removal.objects.all().delete()
    PATHS[path](client)
    assert evidence() != before
