"""`manage.py sweep`: deletes what nobody needs any more."""

from contextlib import suppress
from functools import partial
from typing import Any

from django.db import IntegrityError, transaction

from copilot_admin.jobs.half_pace import at_half_pace
from copilot_admin.jobs.images import sweep_images
from copilot_admin.jobs.sweeping import Sweep, sweep_batch
from copilot_admin.management.base import SanitizedCommand

TRIES = 3  # of a batch; a question that refers to a blob does so in milliseconds


class Command(SanitizedCommand):
    """Delete unreferenced blobs and images."""

    help = (
        "Deletes stored contents and images to which nothing refers any more. The server does it too, "
        "a little at a time."
    )

    def handle(self, **options: Any) -> None:
        """Delete unreferenced in short batches, so that a running server goes on."""
        sweep = Sweep()
        while not sweep.is_done:
            sweep = at_half_pace(partial(_next, sweep))
        self.stdout.write(f"Contents without a referrer: {sweep.total} deleted.")
        self.stdout.write(f"Images of no copilot: {sweep_images()} deleted.")


def _next(sweep: Sweep) -> Sweep:
    """Delete unreferenced a batch, and once more if a question has referred to one of its blobs meanwhile.

    Raises:
        IntegrityError: It happened again and again.
    """
    for _ in range(TRIES - 1):
        with suppress(IntegrityError), transaction.atomic():
            return sweep_batch(sweep)
    with transaction.atomic():
        return sweep_batch(sweep)
