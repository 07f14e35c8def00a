"""HTTP requests and what their answers came to."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.blobs import Blob
from copilot_admin.models.conversations import Conversation
from copilot_admin.models.copilots import Copilot, CopilotVersion
from copilot_admin.models.end_users import EndUser
from copilot_admin.models.fields import JsonField
from copilot_admin.models.nodes import Node
from copilot_admin.models.outcomes import Outcome
from copilot_admin.models.prices import COST_DIGITS, COST_PLACES, PRICE_DIGITS, PRICE_PLACES
from copilot_admin.models.stored_row import StoredRow
from copilot_admin.models.turns import Turn


class CostConfidence(models.TextChoices):
    """How well the cost of a run is known."""

    EXACT = "exact", _("Exact")
    ESTIMATED = "estimated", _("Estimated")
    UNKNOWN = "unknown", _("Unknown")


class Run(StoredRow):
    """One HTTP request, written when it is accepted and once more when it ends."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    copilot = models.ForeignKey(
        Copilot, on_delete=models.CASCADE, related_name="runs", db_index=False
    )
    copilot_version = models.ForeignKey(
        CopilotVersion, null=True, on_delete=models.SET_NULL, db_index=False
    )
    conversation = models.ForeignKey(
        Conversation, null=True, on_delete=models.CASCADE, related_name="runs"
    )
    turn = models.ForeignKey(Turn, null=True, on_delete=models.CASCADE, related_name="runs")
    input_leaf = models.ForeignKey(Node, null=True, on_delete=models.CASCADE, related_name="+")
    output_node = models.ForeignKey(
        Node, null=True, on_delete=models.CASCADE, related_name="written_by"
    )
    principal = models.CharField(max_length=100, blank=True)
    user = models.ForeignKey(
        EndUser, null=True, on_delete=models.PROTECT, related_name="runs", db_index=False
    )
    provider = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    params = JsonField(default=dict)
    generation = models.PositiveSmallIntegerField(default=3)
    started_at = models.DateTimeField()
    ttft_ms = models.PositiveIntegerField(null=True)
    ms = models.PositiveIntegerField(null=True)
    input_tokens = models.PositiveIntegerField(default=0)
    cached_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    reasoning_tokens = models.PositiveIntegerField(default=0)
    usage_source = models.CharField(max_length=10, blank=True)
    # The price that was valid when it started, in dollars for a million tokens; None: there was none.
    input_price = models.DecimalField(
        max_digits=PRICE_DIGITS, decimal_places=PRICE_PLACES, null=True
    )
    cached_price = models.DecimalField(
        max_digits=PRICE_DIGITS, decimal_places=PRICE_PLACES, null=True
    )
    output_price = models.DecimalField(
        max_digits=PRICE_DIGITS, decimal_places=PRICE_PLACES, null=True
    )
    reasoning_price = models.DecimalField(
        max_digits=PRICE_DIGITS, decimal_places=PRICE_PLACES, null=True
    )
    cost = models.DecimalField(
        max_digits=COST_DIGITS, decimal_places=COST_PLACES, null=True
    )  # None: unknown
    cost_confidence = models.CharField(
        max_length=10, choices=CostConfidence.choices, default=CostConfidence.UNKNOWN
    )
    outcome = models.CharField(max_length=12, choices=Outcome.choices, default=Outcome.RUNNING)
    error = models.TextField(blank=True)  # what the user was told
    error_code = models.CharField(max_length=50, blank=True)  # class name in errors.py
    finish_reason = models.CharField(max_length=50, blank=True)
    notes = JsonField(default=list)  # sentences: what was dropped or mended on reading
    env = models.ForeignKey(
        Blob, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    answer_text = models.TextField(blank=True)  # of a run whose answer is not a node
    boot_id = models.CharField(max_length=32)
    heartbeat_at = models.DateTimeField()
    is_counted = models.BooleanField(default=False)  # in the rollups
    # Requests that it stands for: a flood of refusals is one row a minute.
    times = models.PositiveIntegerField(default=1, db_default=1)

    class Meta:
        ordering = ["started_at"]
        indexes = [
            # For budgets of keys, and what builders tried; most runs are of nobody.
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
                fields=["user", "-started_at"],
                condition=Q(user__isnull=False),
                name="run_of_user",
            ),
            models.Index(fields=["env"], condition=Q(env__isnull=False), name="run_env"),
            models.Index(
                fields=["heartbeat_at"],
                condition=Q(outcome="running"),
                name="run_still_running",
            ),
            # What is behind a figure of requests that seldom end so.
            models.Index(
                fields=["outcome", "started_at", "conversation"],
                condition=Q(~Q(outcome="completed"), ~Q(outcome="running")),
                name="run_not_completed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.outcome}"
