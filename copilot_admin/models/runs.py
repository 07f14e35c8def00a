"""Turns, their runs, and the events and checkpoints of a run."""

from typing import TYPE_CHECKING
import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.access import EndUser
from copilot_admin.models.conversations import Blob, Conversation, Node, Outcome
from copilot_admin.models.copilots import Copilot, CopilotVersion
from copilot_admin.models.fields import OrderedJsonField, Record
from copilot_admin.models.pricing import COST, PRICE

if TYPE_CHECKING:
    from protocol.json import JsonObject


class TurnState(models.TextChoices):
    OPEN = "open", _("Open")
    AWAITING_RESULT = "awaiting_result", _("Waiting for the client's data")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    ABANDONED = "abandoned", _("Abandoned")


class Turn(Record):
    """A question with all the runs that answered it."""

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="turns")
    human_node = models.OneToOneField(Node, models.CASCADE, null=True)
    state = models.CharField(max_length=15, choices=TurnState.choices, default=TurnState.OPEN)
    started_at = models.DateTimeField()
    waiting_since = models.DateTimeField(null=True)
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(**COST, default=0)  # as of a conversation
    n_unpriced = models.PositiveIntegerField(default=0)
    cost_is_estimated = models.BooleanField(default=False)
    ttft_ms = models.PositiveIntegerField(null=True)
    ms = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["conversation", "id"]
        indexes = [
            models.Index(
                fields=["waiting_since"],
                condition=Q(state="awaiting_result"),
                name="turn_still_waiting",
            )
        ]


class TurnText(Record):
    """Searchable text of a turn: the question and its answers, normalised and truncated.

    Migration 0002 creates its trigram index: pg_trgm on PostgreSQL, an FTS5 table kept up to date by
    triggers on SQLite.
    """

    turn = models.OneToOneField(Turn, models.CASCADE, primary_key=True, related_name="search_text")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="+")
    text = models.TextField()


class CostConfidence(models.TextChoices):
    REPORTED = "reported", _("Reported by the provider")
    EXACT = "exact", _("Exact")
    ESTIMATED = "estimated", _("Estimated")
    UNKNOWN = "unknown", _("Unknown")


def _blob_key() -> "models.ForeignKey[Blob | None, Blob | None]":
    return models.ForeignKey(
        Blob, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )


class Run(Record):
    """One HTTP request, written when it is accepted and updated when it ends."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    copilot = models.ForeignKey(Copilot, models.CASCADE, related_name="runs", db_index=False)
    copilot_version = models.ForeignKey(CopilotVersion, models.SET_NULL, null=True, db_index=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, null=True, related_name="runs")
    turn = models.ForeignKey(Turn, models.CASCADE, null=True, related_name="runs")
    input_leaf = models.ForeignKey(Node, models.CASCADE, null=True, related_name="+")
    output_node = models.ForeignKey(Node, models.CASCADE, null=True, related_name="written_by")
    principal = models.CharField(max_length=100, blank=True)
    user = models.ForeignKey(
        EndUser, models.PROTECT, null=True, related_name="runs", db_index=False
    )
    provider = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    params = models.JSONField(default=dict)
    generation = models.PositiveSmallIntegerField(default=3)
    started_at = models.DateTimeField()
    ttft_ms = models.PositiveIntegerField(null=True)
    ms = models.PositiveIntegerField(null=True)
    input_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    usage_source = models.CharField(max_length=10, blank=True)
    # Prices valid at the start of the run, in US dollars per million tokens; None: no price.
    input_price = models.DecimalField(**PRICE, null=True)
    cached_price = models.DecimalField(**PRICE, null=True)
    output_price = models.DecimalField(**PRICE, null=True)
    reasoning_price = models.DecimalField(**PRICE, null=True)
    cost = models.DecimalField(**COST, null=True)  # None: unknown
    cost_confidence = models.CharField(
        max_length=10, choices=CostConfidence.choices, default=CostConfidence.UNKNOWN
    )
    outcome = models.CharField(max_length=12, choices=Outcome.choices, default=Outcome.RUNNING)
    error = models.TextField(blank=True)  # sentence shown to the user
    error_code = models.CharField(max_length=50, blank=True)  # class name in errors.py
    finish_reason = models.CharField(max_length=50, blank=True)
    notes = models.JSONField(default=list)  # sentences: what was dropped or mended on reading
    # The request beside its messages; its large fields have columns of their own, so that each is
    # stored once however much the rest of a request changes (`transcripts.matching.messages`).
    env = _blob_key()
    widgets = _blob_key()
    context = _blob_key()
    tools = _blob_key()
    answer_text = models.TextField(blank=True)  # of a run whose answer is not a node
    boot_id = models.CharField(max_length=32)
    heartbeat_at = models.DateTimeField()
    is_counted = models.BooleanField(default=False)  # in the rollups
    # Number of requests in this row: rejections are stored in batches.
    times = models.PositiveIntegerField(default=1, db_default=1)

    class Meta:
        ordering = ["started_at"]
        indexes = [
            # For budgets of keys and playground runs; most runs are anonymous.
            models.Index(
                fields=["principal", "started_at"],
                condition=~Q(principal="anonymous"),
                name="run_of_caller",
            ),
            models.Index(
                fields=["started_at"], condition=Q(is_counted=False), name="run_not_counted"
            ),
            models.Index(fields=["copilot", "-started_at"], name="run_of_copilot"),
            models.Index(fields=["copilot_version", "conversation"], name="run_of_version"),
            models.Index(fields=["model", "conversation"], name="run_of_model"),
            models.Index(fields=["provider", "conversation"], name="run_of_provider"),
            models.Index(
                fields=["error_code", "conversation"],
                condition=~Q(error_code=""),
                name="run_of_error",
            ),
            models.Index(
                fields=["user", "-started_at"], condition=Q(user__isnull=False), name="run_of_user"
            ),
            *(
                models.Index(
                    fields=[name], condition=Q(**{f"{name}__isnull": False}), name=f"run_{name}"
                )
                for name in ("env", "widgets", "context", "tools")
            ),
            models.Index(
                fields=["heartbeat_at"], condition=Q(outcome="running"), name="run_still_running"
            ),
            # For the conversations behind a metric of rare outcomes.
            models.Index(
                fields=["outcome", "started_at", "conversation"],
                condition=Q(~Q(outcome="completed"), ~Q(outcome="running")),
                name="run_not_completed",
            ),
        ]


class EventType(models.TextChoices):
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


# Type of all other events, whose payload contains their name. It isn't a choice of the column, so that
# new events need no migration.
OTHER_EVENT = "other"


class Event(Record):
    """Output of a run other than text, at `text_offset` characters of the answer."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="events", db_index=False)
    ord = models.PositiveIntegerField()
    type = models.CharField(max_length=15, choices=EventType.choices)
    payload: "models.Field[JsonObject | None, JsonObject | None]" = OrderedJsonField(null=True)
    blob = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+", db_index=False)
    text_offset = models.PositiveIntegerField(default=0)  # characters
    at_ms = models.PositiveIntegerField(default=0)  # since the run started

    class Meta:
        ordering = ["run", "ord"]
        indexes = [
            models.Index(fields=["blob"], condition=Q(blob__isnull=False), name="event_blob")
        ]
        constraints = [models.UniqueConstraint(fields=["run", "ord"], name="event_order")]


class Checkpoint(Record):
    """Output of a running answer since its last checkpoint; deleted when the run ends."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="checkpoints", db_index=False)
    ord = models.PositiveIntegerField()
    data = models.BinaryField()  # zlib of JSON

    class Meta:
        ordering = ["run", "ord"]
        constraints = [models.UniqueConstraint(fields=["run", "ord"], name="checkpoint_order")]
