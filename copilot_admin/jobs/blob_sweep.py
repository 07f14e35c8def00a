"""Deletion of blobs and image files to which nothing refers, in short batches.

A request that is about to refer to such a blob locks it (see `storage.blobs`), and a sweep skips
locked blobs; a request stores a blob again that a sweep has deleted. If a reference is committed just
before its blob is deleted, the foreign key fails the batch, which is run again.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial

from django.core.files.storage import default_storage
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django_tasks import task

from copilot_admin.copilots.images import stored_image
from copilot_admin.jobs.tasks import is_queued, run_batches, run_on_writer
from copilot_admin.models import Blob, Copilot, CopilotVersion, Event, Node, Run
from copilot_admin.storage.sql import delete_rows
from copilot_admin.transcripts.matching.messages import FIELDS

Batch = tuple[str, int]

BATCH_BLOBS = 500  # in the order of their hashes
IMAGE_FOLDERS = ("copilots", "copilots/remote")
VERSIONS_IN_MEMORY = 50  # their documents may have megabytes
MIN_IMAGE_AGE = timedelta(hours=1)  # an image is written before its row is committed


@task
def sweep_blobs(after: str = "") -> None:
    """Delete all unreferenced blobs, starting after a hash."""
    last, _ = run_sweep(run_on_writer, after)
    if last:
        sweep_blobs.enqueue(last)


def run_sweep(
    write: Callable[[Callable[[], Batch]], Batch], after: str = "", **limits: float
) -> tuple[str | None, int]:
    """Run batches of a sweep in transactions of `write`; see `sweep_batch`. None: interrupted."""
    total, last = 0, after

    def run_batch() -> str:
        nonlocal total, last
        last, deleted = write(partial(sweep_batch, last))
        total += deleted
        return last

    return run_batches(run_batch, lambda hash: not hash, **limits), total


def enqueue_blob_sweep() -> None:
    """Enqueue a sweep, unless one waits for a worker already."""
    if not is_queued(sweep_blobs):
        sweep_blobs.enqueue()


def sweep_batch(after: str) -> Batch:
    """Delete the unreferenced blobs among the next ones.

    Returns the hash after which the next batch begins, "" at the end, and the number of deleted ones.
    """
    blobs = Blob.objects.filter(sha256__gt=after).order_by("sha256")
    hashes = list(blobs.values_list("sha256", flat=True)[:BATCH_BLOBS])
    if not hashes:
        return "", 0
    orphans = list(
        get_unreferenced_blobs()
        .filter(sha256__gt=after, sha256__lte=hashes[-1])
        .order_by("sha256")
        .select_for_update(skip_locked=True)
        .values_list("sha256", flat=True)
    )
    return hashes[-1], delete_rows(Blob._meta.pk, orphans)


def get_unreferenced_blobs() -> QuerySet[Blob]:
    """Return the blobs to which no message, run or event refers."""
    blob = OuterRef("pk")
    return Blob.objects.filter(
        ~Exists(Node.objects.filter(blob=blob)),
        ~Exists(Event.objects.filter(blob=blob)),
        *(~Exists(Run.objects.filter(**{name: blob})) for name in FIELDS),
    )


def sweep_images() -> int:
    """Delete image files that no draft and no version shows; return their number."""
    used = set(_get_used_images())
    newest = timezone.now() - MIN_IMAGE_AGE
    deleted = 0
    for folder in IMAGE_FOLDERS:
        files = default_storage.listdir(folder)[1] if default_storage.exists(folder) else ()
        for name in (f"{folder}/{file}" for file in files):
            if name not in used and default_storage.get_modified_time(name) < newest:
                default_storage.delete(name)
                deleted += 1
    return deleted


def _get_used_images() -> Iterator[str]:
    for copilot in Copilot.objects.only("image", "image_url"):
        yield stored_image(copilot.picture)
    versions = CopilotVersion.objects.values_list("document", flat=True)
    for document in versions.iterator(VERSIONS_IN_MEMORY):
        yield stored_image(str(document.get("image") or ""))
