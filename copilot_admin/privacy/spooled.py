"""Spooled files of erased runs: a digest says that a run is gone, whatever process finds its file.

Each machine has a spool of its own, so the one that erases cannot reach all files.
"""

from collections.abc import Iterable
from datetime import timedelta
from hashlib import blake2b
from uuid import UUID

from django.utils import timezone

from copilot_admin.models import ErasedRun
from copilot_admin.models.privacy import DIGEST_LENGTH
from copilot_admin.storage.many import delete_rows, in_batches
from copilot_admin.storage.spool import SPOOL

REMEMBERED = timedelta(days=90)  # a machine that is away for longer needs its spool emptied by hand
ASKED_AT_ONCE = 500
_PERSON = b"erased-run"


def digest_of(run_id: UUID) -> str:
    """What is remembered of an erased run."""
    return blake2b(run_id.bytes, digest_size=DIGEST_LENGTH // 2, person=_PERSON).hexdigest()


def remember(run_ids: Iterable[UUID]) -> None:
    """Notes that runs were erased."""
    now = timezone.now()
    rows = [ErasedRun(digest=digest_of(run_id), erased_at=now) for run_id in run_ids]
    ErasedRun.objects.bulk_create(rows, ignore_conflicts=True)


def forget_spooled(run_ids: Iterable[UUID]) -> None:
    """Removes the files of runs from this machine's spool; call it when their rows are gone."""
    for run_id in run_ids:
        SPOOL.remove_run(run_id)


def clean_spool() -> int:
    """Removes what this machine's spool holds of erased runs, also what was set aside.

    Returns:
        How many runs that were.
    """
    by_digest = {digest_of(run_id): run_id for run_id in SPOOL.run_ids()}
    gone = 0
    for some in in_batches(sorted(by_digest), ASKED_AT_ONCE):
        erased = ErasedRun.objects.filter(digest__in=some).values_list("digest", flat=True)
        for digest in erased:
            SPOOL.remove_run(by_digest[digest])
            gone += 1
    return gone


def forget_digests() -> int:
    """Forgets the oldest digests, some at a time.

    Returns:
        How many there were.
    """
    old = ErasedRun.objects.filter(erased_at__lt=timezone.now() - REMEMBERED)
    pks = list(old.values_list("pk", flat=True)[:ASKED_AT_ONCE])
    return delete_rows(ErasedRun._meta.pk, pks)
