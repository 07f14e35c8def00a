"""Sweep blobs to which nothing refers, in short batches; writes.

A question that is about to refer to such a blob holds it (see `storage.blobs`), and a sweep leaves
what somebody holds; what a sweep has taken, the question stores anew. If a reference is committed
just before a blob is taken, the foreign key ends the batch, which is then done once more.
"""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, QuerySet

from copilot_admin.models import Blob, BlobPart, Event, Node, Run
from copilot_admin.storage.many import delete_rows

LOOKED_AT = 500  # blobs of one batch, in the order of their hashes


@dataclass(frozen=True, slots=True)
class Sweep:
    """How far a sweep has come.

    Attributes:
        after: The hash after which the next batch begins.
        in_round: Blobs that went in this round; the parts of those may go in the next one.
        total: Blobs that went in all rounds.
        is_done: A round found nothing more.
    """

    after: str = ""
    in_round: int = 0
    total: int = 0
    is_done: bool = False


def sweep_batch(sweep: Sweep) -> Sweep:
    """Looks at the next blobs and deletes those without a referrer.

    Returns:
        Where to go on.
    """
    blobs = Blob.objects.filter(sha256__gt=sweep.after).order_by("sha256")
    looked_at = list(blobs.values_list("sha256", flat=True)[:LOOKED_AT])
    if not looked_at:
        return Sweep(total=sweep.total, is_done=not sweep.in_round)
    orphans = list(
        without_referrer()
        .filter(sha256__gt=sweep.after, sha256__lte=looked_at[-1])
        .order_by("sha256")
        .select_for_update(skip_locked=True)  # a question that holds one will use it
        .values_list("sha256", flat=True)
    )
    delete_rows(BlobPart._meta.get_field("whole"), orphans)
    gone = delete_rows(Blob._meta.get_field("sha256"), orphans)
    return Sweep(looked_at[-1], sweep.in_round + gone, sweep.total + gone)


def without_referrer() -> QuerySet[Blob]:
    """Blobs to which no message, run, event or other blob refers."""
    here = OuterRef("pk")
    return Blob.objects.filter(
        ~Exists(Node.objects.filter(blob=here)),
        ~Exists(Run.objects.filter(env=here)),
        ~Exists(Event.objects.filter(blob=here)),
        ~Exists(BlobPart.objects.filter(part=here)),
    )
