"""Removals in progress, legal holds, and digests of erased runs."""

from django.contrib.auth.models import User
from django.db import models
from django.db.models import PROTECT, SET_NULL, Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.access import EndUser
from copilot_admin.models.conversations import Conversation
from copilot_admin.models.copilots import Copilot
from copilot_admin.models.fields import Record, index, unique

MAX_REASON_LENGTH = 500
MAX_NAME_LENGTH = 150  # of who places a hold, as of an account
MAX_PRINCIPAL_LENGTH = 100  # as of a conversation
DIGEST_LENGTH = 32  # hexadecimal digits of a 128-bit BLAKE2b

# Prefix of the principal of a conversation being erased: it can't be continued or listed.
ERASED = "erased:"


class Cause(models.TextChoices):
    RETENTION = "retention", _("Retention")
    ERASURE = "erasure", _("Erasure")


class RemovalState(models.TextChoices):
    ROWS = "rows", _("Deleting conversations")
    BLOBS = "blobs", _("Deleting contents")
    SCRUB = "scrub", _("Compacting the database")
    DONE = "done", _("Done")


class ScopeColumns(Record):
    """A selection of conversations: all non-empty columns must match."""

    # No foreign keys: the row outlives the rows that it names.
    conversation = models.BigIntegerField(_("conversation"), null=True, blank=True)
    principal = models.CharField(_("caller"), max_length=MAX_PRINCIPAL_LENGTH, blank=True)
    user = models.BigIntegerField(_("user"), null=True, blank=True)
    copilot = models.BigIntegerField(_("copilot"), null=True, blank=True)
    since = models.DateTimeField(_("from"), null=True, blank=True)
    until = models.DateTimeField(_("before"), null=True, blank=True)

    class Meta:
        abstract = True


class Removal(ScopeColumns):
    """A removal in short batches, with the number of deleted rows per model."""

    cause = models.CharField(_("cause"), max_length=9, choices=Cause.choices)
    idle_before = models.DateTimeField(null=True)  # of retention: silent since then
    day = models.DateField(null=True)  # of retention: one for each copilot and night
    with_questions = models.BooleanField(default=True)  # test cases that were made from it
    reason = models.CharField(_("reason"), max_length=MAX_REASON_LENGTH, blank=True)
    asked_by = models.ForeignKey(User, SET_NULL, null=True, related_name="+")
    state = models.CharField(
        _("state"), max_length=5, choices=RemovalState.choices, default=RemovalState.ROWS
    )
    total = models.PositiveBigIntegerField(default=0)  # conversations, when it began
    counts = models.JSONField(default=dict)  # rows that went, by the name of their model
    swept_to = models.CharField(max_length=64, blank=True)  # hash of a blob
    begun_at = models.DateTimeField(_("started"), auto_now_add=True)
    moved_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(_("done"), null=True)

    class Meta:
        verbose_name = _("removal")
        verbose_name_plural = _("removals")
        ordering = ["-id"]
        default_permissions = ()
        permissions = [
            ("erase_data", "Can erase conversations, users, callers and periods"),
            ("watch_background", "Can see and stop background jobs"),
        ]
        indexes = [index("removal_unfinished", "moved_at", ~Q(state="done"))]
        constraints = [unique("removal_of_night_once", "copilot day", Q(cause="retention"))]


class LegalHold(ScopeColumns):
    """A legal hold: nothing it selects may be removed before it is released."""

    conversation_row = models.ForeignKey(  # the database itself keeps what is held
        Conversation, null=True, on_delete=PROTECT, related_name="+"
    )
    user_row = models.ForeignKey(EndUser, PROTECT, null=True, related_name="+")
    copilot_row = models.ForeignKey(Copilot, PROTECT, null=True, related_name="+")
    reason = models.CharField(_("reason"), max_length=MAX_REASON_LENGTH)
    placed_by = models.ForeignKey(User, SET_NULL, null=True, related_name="+")
    placed_by_name = models.CharField(_("placed by"), max_length=MAX_NAME_LENGTH)
    placed_at = models.DateTimeField(_("since"), auto_now_add=True)
    released_at = models.DateTimeField(_("released"), null=True)
    released_by_name = models.CharField(max_length=MAX_NAME_LENGTH, blank=True)

    class Meta:
        verbose_name = _("legal hold")
        verbose_name_plural = _("legal holds")
        ordering = ["-id"]
        default_permissions = ()
        permissions = [("hold_data", "Can place and release legal holds, and see deletions")]
        indexes = [index("hold_in_force", "id", Q(released_at=None))]


class ErasedRun(Record):
    """The digest of an erased run's id, so that its spooled end is dropped too."""

    digest = models.CharField(max_length=DIGEST_LENGTH, primary_key=True)
    erased_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()
