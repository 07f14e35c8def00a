"""Turns, their runs, and the events and checkpoints of a run."""

import uuid

from django.db import models
from django.db.models import CASCADE, PROTECT, SET_NULL, Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.access import EndpointKey, EndUser
from copilot_admin.models.conversations import Blob, Conversation, Node, Outcome
from copilot_admin.models.copilots import Copilot, CopilotVersion
from copilot_admin.models.fields import OrderedJsonField, Record, index, unique
from copilot_admin.models.pricing import COST, PRICE
from protocol.json import Json, JsonObject

# Type of all other events, whose payload contains their name. It isn't a choice of the column, so that
# new events need no migration.
OTHER_EVENT = "other"


class TurnState(models.TextChoices):
    OPEN = "open", _("Open")
    AWAITING_RESULT = "awaiting_result", _("Waiting for the client's data")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    ABANDONED = "abandoned", _("Abandoned")


class Turn(Record):
    """A question with all the runs that answered it."""

    conversation = models.ForeignKey(Conversation, CASCADE, related_name="turns")
    human_node = models.OneToOneField(Node, CASCADE, null=True)
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
        indexes = [index("turn_still_waiting", "waiting_since", Q(state="awaiting_result"))]


class TurnText(Record):
    """Searchable text of a turn: the question and its answers, normalised and truncated.

    Migration 0002 creates its trigram index: pg_trgm on PostgreSQL, an FTS5 table kept up to date by
    triggers on SQLite.
    """

    turn = models.OneToOneField(Turn, CASCADE, primary_key=True, related_name="search_text")
    conversation = models.ForeignKey(Conversation, CASCADE, related_name="+")
    text = models.TextField()


class CostConfidence(models.TextChoices):
    REPORTED = "reported", _("Reported by the provider")
    EXACT = "exact", _("Exact")
    ESTIMATED = "estimated", _("Estimated")
    UNKNOWN = "unknown", _("Unknown")


def _blob_key() -> "models.ForeignKey[Blob | None, Blob | None]":
    return models.ForeignKey(Blob, null=True, on_delete=PROTECT, related_name="+", db_index=False)


class Run(Record):
    """One HTTP request, written when it is accepted and updated when it ends."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    copilot = models.ForeignKey(Copilot, CASCADE, related_name="runs", db_index=False)
    copilot_version = models.ForeignKey(CopilotVersion, SET_NULL, null=True, db_index=False)
    conversation = models.ForeignKey(Conversation, CASCADE, null=True, related_name="runs")
    turn = models.ForeignKey(Turn, CASCADE, null=True, related_name="runs")
    input_leaf = models.ForeignKey(Node, CASCADE, null=True, related_name="+")
    output_node = models.ForeignKey(Node, CASCADE, null=True, related_name="written_by")
    principal = models.CharField(max_length=100, blank=True)
    user = models.ForeignKey(EndUser, PROTECT, null=True, related_name="runs", db_index=False)
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
            index("run_of_caller", "principal started_at", ~Q(principal="anonymous")),
            index("run_not_counted", "started_at", Q(is_counted=False)),
            index("run_of_copilot", "copilot -started_at"),
            index("run_of_version", "copilot_version conversation"),
            index("run_of_model", "model conversation"),
            index("run_of_provider", "provider conversation"),
            index("run_of_error", "error_code conversation", ~Q(error_code="")),
            index("run_of_user", "user -started_at", Q(user__isnull=False)),
            *(
                index(f"run_{name}", name, Q(**{f"{name}__isnull": False}))
                for name in ("env", "widgets", "context", "tools")
            ),
            index("run_still_running", "heartbeat_at", Q(outcome="running")),
            # For the conversations behind a metric of rare outcomes.
            index(
                "run_not_completed",
                "outcome started_at conversation",
                Q(~Q(outcome="completed"), ~Q(outcome="running")),
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


class Event(Record):
    """Output of a run other than text, at `text_offset` characters of the answer."""

    run = models.ForeignKey(Run, CASCADE, related_name="events", db_index=False)
    ord = models.PositiveIntegerField()
    type = models.CharField(max_length=15, choices=EventType.choices)
    payload: "models.Field[JsonObject | None, JsonObject | None]" = OrderedJsonField(null=True)
    blob = models.ForeignKey(Blob, PROTECT, null=True, related_name="+", db_index=False)
    text_offset = models.PositiveIntegerField(default=0)  # characters
    at_ms = models.PositiveIntegerField(default=0)  # since the run started

    class Meta:
        ordering = ["run", "ord"]
        indexes = [index("event_blob", "blob", Q(blob__isnull=False))]
        constraints = [unique("event_order", "run ord")]


class Checkpoint(Record):
    """Output of a running answer since its last checkpoint; deleted when the run ends."""

    run = models.ForeignKey(Run, CASCADE, related_name="checkpoints", db_index=False)
    ord = models.PositiveIntegerField()
    data = models.BinaryField()  # zlib of JSON

    class Meta:
        ordering = ["run", "ord"]
        constraints = [unique("checkpoint_order", "run ord")]


class CallStatus(models.TextChoices):
    DONE = "done", _("Done")
    REFUSED = "refused", _("Arguments rejected")
    FAILED = "failed", _("Failed")
    CANCELLED = "cancelled", _("Cancelled")


class ComponentCall(Record):
    """A component call, written when it ends; `arguments` is None if they aren't stored."""

    key = models.ForeignKey(
        EndpointKey, SET_NULL, verbose_name=_("API key"), null=True, related_name="component_calls"
    )
    copilot = models.ForeignKey(  # whose settings and model it had, if any
        Copilot,
        verbose_name=_("copilot"),
        null=True,
        on_delete=CASCADE,
        related_name="component_calls",
    )
    user = models.ForeignKey(  # whom a token or a trusted proxy named
        EndUser,
        verbose_name=_("user"),
        null=True,
        on_delete=PROTECT,
        related_name="component_calls",
        db_index=False,
    )
    component = models.CharField(_("tool"), max_length=64)
    version = models.CharField(_("version"), max_length=40)
    action = models.CharField(_("action"), max_length=10)
    trace_id = models.CharField(_("trace ID"), max_length=128)
    request_id = models.CharField(_("request ID"), max_length=128)
    arguments: "models.Field[Json, Json]" = OrderedJsonField(_("arguments"), null=True)
    status = models.CharField(_("status"), max_length=10, choices=CallStatus.choices)
    events = models.PositiveIntegerField(_("events"), default=0)
    usage = models.JSONField(_("usage"), default=list)
    ms = models.PositiveIntegerField(_("milliseconds"))
    error = models.TextField(_("error"), blank=True)
    created_at = models.DateTimeField(_("time"))

    class Meta:
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        ordering = ["-created_at", "-id"]
        indexes = [
            index("call_newest", "-created_at -id"),
            index("call_of_component", "component -created_at -id"),
            index("call_of_status", "status -created_at -id"),
            index("call_of_user", "user -created_at", condition=models.Q(user__isnull=False)),
        ]
