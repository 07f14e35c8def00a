"""Conversations, rebuilt from a stateless stream, with their tree of messages and stored blobs."""

from functools import reduce
import operator
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.access import EndUser
from copilot_admin.models.copilots import Copilot
from copilot_admin.models.fields import Record
from copilot_admin.models.pricing import COST
from protocol.json import JsonObject

HASH_LENGTH = 32  # hexadecimal digits of a 128-bit keyed BLAKE2b
# Prefix of the principal of playground conversations: `playground:<user id>`.
PLAYGROUND = "playground:"


class Outcome(models.TextChoices):
    """The outcome of a run. The number of accepted runs is the sum over all outcomes."""

    RUNNING = "running", _("Running")
    COMPLETED = "completed", _("Completed")
    TRUNCATED = "truncated", _("Truncated")
    FAILED = "failed", _("Failed")
    CRASHED = "crashed", _("Crashed")
    CANCELLED = "cancelled", _("Cancelled")
    INTERRUPTED = "interrupted", _("Interrupted")
    REFUSED = "refused", _("Refused")


# An OR of equalities: SQLite uses a partial index only if its condition is a part of the query's.
NOT_COMPLETED = reduce(
    operator.or_,
    (Q(last_outcome=outcome) for outcome in Outcome if outcome is not Outcome.COMPLETED),
)


class ReviewState(models.TextChoices):
    NEW = "new", _("New")
    IN_REVIEW = "in_review", _("In review")
    DONE = "done", _("Done")


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def of_callers(self) -> Self:
        """Exclude playground conversations, which aren't usage."""
        return self.exclude(principal__startswith=PLAYGROUND)


class Conversation(models.Model):
    """A conversation, with everything that a row of the transcript list shows."""

    copilot = models.ForeignKey(
        Copilot, models.CASCADE, related_name="conversations", db_index=False
    )
    # `key:<id>`, `anonymous`, or `playground:<id>` of a builder.
    principal = models.CharField(_("caller"), max_length=100)
    user = models.ForeignKey(
        EndUser,
        models.PROTECT,
        null=True,
        related_name="conversations",
        db_index=False,
        verbose_name=_("user"),
    )
    # Id of the conversation that a playground conversation repeats; erased together with it.
    origin = models.BigIntegerField(null=True)
    trace_id = models.CharField(_("trace id"), max_length=128, blank=True)
    title = models.CharField(_("first question"), max_length=300, blank=True)
    first_at = models.DateTimeField(_("started"))
    last_at = models.DateTimeField(_("last active"))
    n_turns = models.PositiveIntegerField(_("turns"), default=0)
    n_runs = models.PositiveIntegerField(_("requests"), default=0)
    tokens = models.PositiveBigIntegerField(_("tokens"), default=0)
    # The known part of the cost, and the number of ended runs without a known cost.
    cost = models.DecimalField(_("cost"), **COST, default=0)
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
        verbose_name_plural = _("conversations")
        ordering = ["-last_at", "-id"]
        indexes = [
            models.Index(fields=["-last_at", "-id"], name="conversation_recent"),
            models.Index(fields=["copilot", "-last_at", "-id"], name="conversation_of_copilot"),
            # Conversations without a trace id are many; SQLite would use this index to find them.
            models.Index(fields=["trace_id"], condition=~Q(trace_id=""), name="conversation_trace"),
            models.Index(
                fields=["last_outcome", "-last_at", "-id"],
                condition=NOT_COMPLETED,
                name="conversation_not_completed",
            ),
            # Nearly all conversations are new and stay out of the index.
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
                fields=["origin"], condition=Q(origin__isnull=False), name="conversation_of_origin"
            ),
            # Rare properties would need a scan of the whole list.
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


class Blob(Record):
    """A large JSON value, stored once under the SHA-256 of its JSON; see `storage.blobs`."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    data = models.BinaryField()  # zlib
    size = models.PositiveBigIntegerField()  # bytes before compression
    created_at = models.DateTimeField(auto_now_add=True)


class NodeRole(models.TextChoices):
    HUMAN = "human", _("Human")
    AI = "ai", _("Copilot")
    TOOL = "tool", _("Client")


class NodeKind(models.TextChoices):
    TEXT = "text", _("Text")
    CALL = "call", _("Function call")
    RESULT = "result", _("Function result")


class Node(Record):
    """A message of a conversation, never changed once written; its parent is the previous message."""

    conversation = models.ForeignKey(
        Conversation, models.CASCADE, related_name="nodes", db_index=False
    )
    parent = models.ForeignKey("self", models.CASCADE, null=True, related_name="children")
    depth = models.PositiveIntegerField()
    role = models.CharField(max_length=5, choices=NodeRole.choices)
    kind = models.CharField(max_length=6, choices=NodeKind.choices)
    agent = models.CharField(max_length=200, blank=True)  # who gave the task or the answer
    text = models.TextField(blank=True)
    blob = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+", db_index=False)
    chain_hash = models.CharField(max_length=HASH_LENGTH)
    client_hash = models.CharField(max_length=HASH_LENGTH)
    echo_differs = models.BooleanField(default=False)
    from_history = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    # Of a call or result, set by `transcripts.queries`.
    data: "JsonObject | None" = None

    class Meta:
        ordering = ["conversation", "depth", "id"]
        indexes = [
            models.Index(fields=["chain_hash"], name="node_chain_hash"),
            models.Index(
                fields=["client_hash", "depth", "id"],
                condition=Q(role=NodeRole.AI),
                name="node_answer_by_client",
            ),
            models.Index(fields=["blob"], condition=Q(blob__isnull=False), name="node_blob"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["conversation", "chain_hash"], name="node_once")
        ]
