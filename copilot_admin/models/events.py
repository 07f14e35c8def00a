"""What else than text a run put out, and what a running one has streamed."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.blobs import Blob
from copilot_admin.models.fields import OrderedJsonField
from copilot_admin.models.runs import Run
from copilot_admin.models.stored_row import StoredRow
from protocol.json import JsonObject


class EventType(models.TextChoices):
    """What else than text was streamed or happened in a run."""

    STATUS = "status", _("Step")
    ARTIFACT = "artifact", _("Artifact")
    CITATION = "citation", _("Citations")
    FUNCTION_CALL = "function_call", _("Function call")
    SUGGESTIONS = "suggestions", _("Suggestions")
    COMPONENT = "component", _("Component")
    TOOL = "tool", _("Server tool")
    REASONING = "reasoning", _("Reasoning")
    DATA = "data", _("Data message")
    FILE = "file", _("File")


# The type of whatever has none above: its payload has its name. It is no choice of the column, so
# that what is put out may become more without a migration.
OTHER_EVENT = "other"


class Event(StoredRow):
    """Something in a run that is not text; `text_offset` says after how much text it came."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events", db_index=False)
    ord = models.PositiveIntegerField()
    type = models.CharField(max_length=15, choices=EventType.choices)
    payload: "models.Field[JsonObject | None, JsonObject | None]" = OrderedJsonField(null=True)
    blob = models.ForeignKey(
        Blob, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    text_offset = models.PositiveIntegerField(default=0)  # characters
    at_ms = models.PositiveIntegerField(default=0)  # since the run started

    class Meta:
        ordering = ["run", "ord"]
        indexes = [
            models.Index(fields=["blob"], condition=Q(blob__isnull=False), name="event_blob")
        ]
        constraints = [models.UniqueConstraint(fields=["run", "ord"], name="event_order")]

    def __str__(self) -> str:
        return f"{self.type} {self.ord}"


class Checkpoint(StoredRow):
    """What a running answer streamed since its last checkpoint; gone once the run has ended."""

    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="checkpoints", db_index=False
    )
    ord = models.PositiveIntegerField()
    data = models.BinaryField()  # zlib of JSON

    class Meta:
        ordering = ["run", "ord"]
        constraints = [models.UniqueConstraint(fields=["run", "ord"], name="checkpoint_order")]

    def __str__(self) -> str:
        return f"checkpoint {self.ord}"
