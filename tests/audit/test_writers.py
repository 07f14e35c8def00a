"""However many add entries at once, they are one chain, and what is not committed is not in it."""

from concurrent.futures import ThreadPoolExecutor

from django.db import connection, transaction
import pytest

from copilot_admin.audit.chain import verify
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.models import Action, AuditEntry, Provider
from tests.factories import make_provider

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
WRITERS, EACH = 4, 10


def rename(pk: int, times: int) -> None:
    """Changes a row of one's own some times; every third time something breaks."""
    try:
        for number in range(times):
            with transaction.atomic():
                row = Provider.objects.select_for_update().get(pk=pk)
                before, row.name = row.name, f"provider {pk} {number}"
                row.save()
                record(
                    Action.CHANGED,
                    by=Actor.server(),
                    on=Subject.of(row),
                    before={"name": before},
                    after={"name": row.name},
                )
                transaction.set_rollback(number % 3 == 2)
    finally:
        connection.close()


def test_writers_at_once_make_one_chain_with_an_entry_for_each_change() -> None:
    providers = [make_provider() for _ in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as writers:
        list(writers.map(rename, [one.pk for one in providers], [EACH] * WRITERS))
    head, broken = verify()
    assert broken is None
    assert head.sequence == AuditEntry.objects.count() == WRITERS * (EACH - EACH // 3)
    for provider in providers:
        provider.refresh_from_db()
        last = AuditEntry.objects.filter(subject_id=str(provider.pk)).order_by("-sequence")[0]
        assert provider.name == f"provider {provider.pk} {EACH - 1}"
        assert f'"{provider.name}"' in last.after
