"""What older rows still lack."""

from typing import ClassVar

from django.db import models

from copilot_admin.models.stored_row import StoredRow


class Filling(StoredRow):
    """What is still to be written for rows that are older than a table or a column; gone when done."""

    name = models.CharField(max_length=20, primary_key=True)
    below = models.BigIntegerField()  # rows with smaller ids wait; the newest are done first
    moved_at = models.DateTimeField(null=True)  # when a batch was last done

    class Meta:
        permissions: ClassVar = [
            ("watch_background", "Can see and stop what runs in the background")
        ]

    def __str__(self) -> str:
        return f"{self.name} below {self.below}"
