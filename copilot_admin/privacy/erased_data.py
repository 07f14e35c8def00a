"""Remains of erased data outside of its rows: spooled runs, caches and the choices of filters.

Each machine has a spool of its own. A digest of each erased run tells every process to drop its file.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from hashlib import blake2b
from uuid import UUID

from django.utils import timezone

from copilot_admin.models import ErasedRun, Feedback, SeenKind, SeenValue
from copilot_admin.models.privacy import DIGEST_LENGTH
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.sql import in_batches

DIGEST_LIFETIME = timedelta(days=90)  # empty the spool of a machine that was off for longer
MAX_DIGESTS = 500  # in one statement
_PERSON = b"erased-run"


def get_digest(run_id: UUID) -> str:
    return blake2b(run_id.bytes, digest_size=DIGEST_LENGTH // 2, person=_PERSON).hexdigest()


def store_digests(run_ids: Iterable[UUID]) -> None:
    now = timezone.now()
    rows = [ErasedRun(digest=get_digest(run_id), erased_at=now) for run_id in run_ids]
    ErasedRun.objects.bulk_create(rows, ignore_conflicts=True)


def delete_old_digests() -> None:
    ErasedRun.objects.filter(erased_at__lt=timezone.now() - DIGEST_LIFETIME).delete()


def delete_spooled(run_ids: Iterable[UUID]) -> None:
    """Delete the files of runs from this machine's spool, after their rows were deleted."""
    for run_id in run_ids:
        SPOOL.remove_run(run_id)


def clean_spool() -> int:
    """Delete the files of erased runs from this machine's spool; return the number of runs."""
    by_digest = {get_digest(run_id): run_id for run_id in SPOOL.run_ids()}
    erased: list[str] = []
    for some in in_batches(list(by_digest), MAX_DIGESTS):
        found = ErasedRun.objects.filter(digest__in=some)
        erased += found.values_list("digest", flat=True)
    delete_spooled(by_digest[digest] for digest in erased)
    return len(erased)


def find_unused_reasons() -> list[int]:
    """Return keys of feedback reasons in the filter's choices that no feedback has.

    It reads all feedback, so don't call it on the writer. A reason that comes back in the meantime is
    added to the choices within the hour.
    """
    reasons = SeenValue.objects.filter(kind=SeenKind.REASON).order_by().values_list("value", "pk")
    unused = dict(reasons)
    if unused:
        for tags in Feedback.objects.order_by().values_list("tags", flat=True).iterator():
            for tag in tags:
                unused.pop(tag, None)
    return list(unused.values())


def delete_reasons(keys: Sequence[int]) -> None:
    SeenValue.objects.filter(pk__in=keys).delete()
