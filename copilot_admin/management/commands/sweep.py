"""`manage.py sweep`: delete unreferenced blobs and images."""

from math import inf
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from copilot_admin.jobs.blob_sweep import run_sweep, sweep_images
from copilot_admin.management.base import SanitizedCommand


class Command(SanitizedCommand):
    help = (
        "Delete stored contents and images to which nothing refers, as the server does every hour."
    )

    def handle(self, **options: Any) -> None:
        last, total = run_sweep(lambda job: transaction.atomic(job)(), max_seconds=inf)
        if last is None:
            raise CommandError("The database failed. Run this command again.")
        self.stdout.write(f"Deleted {total} contents and {sweep_images()} images.")
