"""Conversations, rebuilt from a stateless stream, as the list of transcripts shows them."""

from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot
from copilot_admin.models.end_users import EndUser
from copilot_admin.models.outcomes import NOT_COMPLETED, Outcome
from copilot_admin.models.prices import COST_DIGITS, COST_PLACES
from copilot_admin.models.stored_row import StoredRow


class ReviewState(models.TextChoices):
    """How far a reviewer has come with a conversation."""

    NEW = "new", _("New")
    IN_REVIEW = "in_review", _("In review")
    DONE = "done", _("Done")


# Who asks while he tries a draft: `playground:<id of the user>`.
PLAYGROUND = "playground:"


class ConversationQuerySet(models.QuerySet["Conversation"]):
    """Look-ups of conversations."""

    def of_callers(self) -> Self:
        """Without what builders tried in the playground, which is no use of a copilot."""
        return self.exclude(principal__startswith=PLAYGROUND)


class Conversation(StoredRow):
    """Everything that a row of the transcript list needs; lists read nothing else."""

    copilot = models.ForeignKey(
        Copilot, on_delete=models.CASCADE, related_name="conversations", db_index=False
    )
    # `key:<id>`, `anonymous`, or `playground:<id>` of a builder.
    principal = models.CharField(_("caller"), max_length=100)
    user = models.ForeignKey(
        EndUser,
        null=True,
        on_delete=models.PROTECT,
        related_name="conversations",
        db_index=False,
        verbose_name=_("user"),
    )
    # Of a trial: the id of the conversation whose question it asks again; it goes when that is erased.
    origin = models.BigIntegerField(null=True)
    trace_id = models.CharField(_("trace id"), max_length=128, blank=True)
    title = models.CharField(_("first question"), max_length=300, blank=True)
    first_at = models.DateTimeField(_("started"))
    last_at = models.DateTimeField(_("last active"))
    n_turns = models.PositiveIntegerField(_("turns"), default=0)
    n_runs = models.PositiveIntegerField(_("requests"), default=0)
    tokens = models.PositiveBigIntegerField(_("tokens"), default=0)
    # What is known of the cost; and how many of the requests that ended have none that is known.
    cost = models.DecimalField(
        _("cost"), max_digits=COST_DIGITS, decimal_places=COST_PLACES, default=0
    )
    n_unpriced = models.PositiveIntegerField(_("requests of unknown cost"), default=0)
    cost_is_estimated = models.BooleanField(_("cost is estimated"), default=False)
    ttft_ms = models.PositiveIntegerField(_("first token (ms)"), null=True)  # of the last answer
    last_outcome = models.CharField(
        _("outcome"), max_length=12, choices=Outcome.choices, default=Outcome.RUNNING
    )
    has_error = models.BooleanField(_("has errors"), default=False)
    has_branch = models.BooleanField(_("has branches"), default=False)
    has_call = models.BooleanField(_("has calls of the client"), default=False)
    has_file = models.BooleanField(_("has files"), default=False)
    n_up = models.PositiveIntegerField(_("thumbs up"), default=0)
    n_down = models.PositiveIntegerField(_("thumbs down"), default=0)
    review_state = models.CharField(
        _("review"), max_length=10, choices=ReviewState.choices, default=ReviewState.NEW
    )

    objects: ClassVar[ConversationQuerySet] = ConversationQuerySet.as_manager()  # type: ignore[assignment]  # a manager made from the queryset has its methods

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("transcripts")
        ordering = ["-last_at", "-id"]
        indexes = [
            models.Index(fields=["-last_at", "-id"], name="conversation_recent"),
            models.Index(fields=["copilot", "-last_at", "-id"], name="conversation_of_copilot"),
            # Not of those without one, which are many: SQLite would take it to find them.
            models.Index(fields=["trace_id"], condition=~Q(trace_id=""), name="conversation_trace"),
            models.Index(
                fields=["last_outcome", "-last_at", "-id"],
                condition=NOT_COMPLETED,
                name="conversation_not_completed",
            ),
            # Not of the new ones, which are nearly all.
            models.Index(
                fields=["review_state", "-last_at", "-id"],
                condition=Q(review_state="in_review") | Q(review_state="done"),
                name="conversation_reviewed",
            ),
            models.Index(fields=["principal", "-last_at", "-id"], name="conversation_of_caller"),
            models.Index(
                fields=["user", "-last_at", "-id"],
                condition=Q(user__isnull=False),
                name="conversation_of_user",
            ),
            models.Index(
                fields=["origin"],
                condition=Q(origin__isnull=False),
                name="conversation_of_origin",
            ),
            # What few conversations have is not found by walking along all of them.
            *(
                models.Index(
                    fields=["-last_at", "-id"],
                    condition=Q(**{flag: True}),
                    name=f"conversation_{flag}",
                )
                for flag in ("has_error", "has_branch", "has_call", "has_file")
            ),
            *(
                models.Index(
                    fields=["-last_at", "-id"],
                    condition=Q(**{f"{votes}__gt": 0}),
                    name=f"conversation_{votes}",
                )
                for votes in ("n_up", "n_down")
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["copilot", "principal", "trace_id"],
                condition=~Q(trace_id="") & Q(user__isnull=True),
                name="conversation_trace_once",
            ),
            models.UniqueConstraint(
                fields=["copilot", "principal", "user", "trace_id"],
                condition=~Q(trace_id="") & Q(user__isnull=False),
                name="conversation_user_trace_once",
            ),
        ]

    def __str__(self) -> str:
        return self.title or f"{self.copilot_id}/{self.pk}"
