"""`manage.py sweep`: deletes what nobody needs any more."""

from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from copilot_admin.upkeep.images import sweep_images
from copilot_admin.upkeep.sweeping import Sweep, sweep_batch


class Command(BaseCommand):
    """Sweeps blobs and images."""

    help = (
        "Deletes stored contents and images to which nothing refers any more. The server does it too, "
        "a little at a time."
    )

    def handle(self, **options: Any) -> None:
        """Sweeps in short batches, so that a running server goes on."""
        sweep = Sweep()
        while not sweep.is_done:
            with transaction.atomic():
                sweep = sweep_batch(sweep)
        self.stdout.write(f"Contents without a referrer: {sweep.total} deleted.")
        self.stdout.write(f"Images of no copilot: {sweep_images()} deleted.")
