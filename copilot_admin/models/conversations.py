"""Conversations, rebuilt from a stateless stream, with their tree of messages and stored blobs."""

from functools import reduce
import operator
from typing import ClassVar, Self

from django.db import models
from django.db.models import CASCADE, PROTECT, Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.access import EndUser
from copilot_admin.models.copilots import Copilot
from copilot_admin.models.fields import Record, index, unique
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

    copilot = models.ForeignKey(Copilot, CASCADE, related_name="conversations", db_index=False)
    # `key:<id>`, `anonymous`, or `playground:<id>` of a builder.
    principal = models.CharField(_("caller"), max_length=100)
    user = models.ForeignKey(
        EndUser,
        PROTECT,
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
            index("conversation_recent", "-last_at -id"),
            index("conversation_of_copilot", "copilot -last_at -id"),
            # Conversations without a trace id are many; SQLite would use this index to find them.
            index("conversation_trace", "trace_id", ~Q(trace_id="")),
            index("conversation_not_completed", "last_outcome -last_at -id", NOT_COMPLETED),
            # Nearly all conversations are new and stay out of the index.
            index(
                "conversation_reviewed",
                "review_state -last_at -id",
                Q(review_state="in_review") | Q(review_state="done"),
            ),
            index("conversation_of_caller", "principal -last_at -id"),
            index("conversation_of_user", "user -last_at -id", Q(user__isnull=False)),
            index("conversation_of_origin", "origin", Q(origin__isnull=False)),
            # Rare properties would need a scan of the whole list.
            *(
                index(f"conversation_{flag}", "-last_at -id", Q(**{flag: True}))
                for flag in ("has_error", "has_branch", "has_call", "has_file")
            ),
            *(
                index(f"conversation_{votes}", "-last_at -id", Q(**{f"{votes}__gt": 0}))
                for votes in ("n_up", "n_down")
            ),
        ]
        constraints = [
            unique(
                "conversation_trace_once",
                "copilot principal trace_id",
                ~Q(trace_id="") & Q(user__isnull=True),
            ),
            unique(
                "conversation_user_trace_once",
                "copilot principal user trace_id",
                ~Q(trace_id="") & Q(user__isnull=False),
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

    conversation = models.ForeignKey(Conversation, CASCADE, related_name="nodes", db_index=False)
    parent = models.ForeignKey("self", CASCADE, null=True, related_name="children")
    depth = models.PositiveIntegerField()
    role = models.CharField(max_length=5, choices=NodeRole.choices)
    kind = models.CharField(max_length=6, choices=NodeKind.choices)
    agent = models.CharField(max_length=200, blank=True)  # who gave the task or the answer
    text = models.TextField(blank=True)
    blob = models.ForeignKey(Blob, PROTECT, null=True, related_name="+", db_index=False)
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
            index("node_chain_hash", "chain_hash"),
            index("node_answer_by_client", "client_hash depth id", Q(role=NodeRole.AI)),
            index("node_blob", "blob", Q(blob__isnull=False)),
        ]
        constraints = [unique("node_once", "conversation chain_hash")]
