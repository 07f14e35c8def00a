"""Transcript exports, written in the background."""

from typing import ClassVar, Self

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CASCADE
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.fields import Record, index, unique


class ExportState(models.TextChoices):
    RUNNING = "running", _("Being written")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    FAILED = "failed", _("Failed")


class ExportQuerySet(models.QuerySet["TranscriptExport"]):
    def unexpired(self) -> Self:
        return self.filter(expires_at__gt=timezone.now())


class TranscriptExport(models.Model):
    """A file of transcripts and its progress.

    Conversations are written by descending id from `top` to `bottom`. `position` is the last id
    written, `n_parts` the number of complete parts up to there.
    """

    owner = models.ForeignKey(User, CASCADE, related_name="+")
    query = models.TextField(blank=True)  # filters and words, as the address of the list has them
    words = models.TextField(blank=True)  # the same for people
    format = models.CharField(_("format"), max_length=20)
    with_data = models.BooleanField(_("with data"), default=False)
    with_prompts = models.BooleanField(_("with system prompts"), default=False)
    state = models.CharField(
        _("state"), max_length=7, choices=ExportState.choices, default=ExportState.RUNNING
    )
    error = models.TextField(blank=True)  # a sentence for its owner
    top = models.BigIntegerField(default=0)
    bottom = models.BigIntegerField(default=0)
    position = models.BigIntegerField(default=0)
    n_parts = models.PositiveIntegerField(default=0)
    n_conversations = models.PositiveBigIntegerField(_("conversations"), default=0)
    n_turns = models.PositiveBigIntegerField(_("questions"), default=0)
    size = models.PositiveBigIntegerField(_("bytes"), default=0)
    # Incremented by each worker that takes over; the previous one then stops.
    claim = models.PositiveIntegerField(default=0)
    moved_at = models.DateTimeField()
    made_at = models.DateTimeField(_("begun"), auto_now_add=True)
    expires_at = models.DateTimeField(_("available until"))

    objects: ClassVar[ExportQuerySet] = ExportQuerySet.as_manager()  # type: ignore[assignment]  # a manager made from the queryset has its methods

    class Meta:
        verbose_name = _("export")
        verbose_name_plural = _("exports")
        ordering = ["-id"]
        default_permissions = ()
        permissions = [("export_conversation", "Can export transcripts")]
        indexes = [
            index("export_running", "moved_at", condition=models.Q(state="running")),
            index("export_expires", "expires_at"),
        ]

    def __str__(self) -> str:
        return f"{self.format} {self.pk}"

    @property
    def is_running(self) -> bool:
        return self.state == ExportState.RUNNING

    @property
    def is_done(self) -> bool:
        return self.state == ExportState.DONE

    @property
    def per_cent(self) -> int:
        if self.is_done:
            return 100
        whole = self.top - self.bottom + 1
        return min(99, max(0, 100 * (self.top + 1 - self.position) // whole)) if whole > 0 else 0


class ExportPart(Record):
    """A compressed part of the file; parts after the last complete conversation are rewritten."""

    export = models.ForeignKey(TranscriptExport, CASCADE, related_name="parts", db_index=False)
    ord = models.PositiveIntegerField()
    data = models.BinaryField()  # zlib

    class Meta:
        default_permissions = ()
        ordering = ["export", "ord"]
        constraints = [unique("export_part_once", "export ord")]
