"""Questions with what was done to answer them, and what a search looks through."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.conversations import Conversation
from copilot_admin.models.nodes import Node
from copilot_admin.models.prices import COST_DIGITS, COST_PLACES
from copilot_admin.models.stored_row import StoredRow


class TurnState(models.TextChoices):
    """Where a question and its answer stand."""

    OPEN = "open", _("Open")
    AWAITING_RESULT = "awaiting_result", _("Waiting for the client's data")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    ABANDONED = "abandoned", _("Abandoned")


class Turn(StoredRow):
    """A question and everything that was done to answer it."""

    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="turns")
    human_node = models.OneToOneField(Node, null=True, on_delete=models.CASCADE)
    state = models.CharField(max_length=15, choices=TurnState.choices, default=TurnState.OPEN)
    started_at = models.DateTimeField()
    waiting_since = models.DateTimeField(null=True)
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(
        max_digits=COST_DIGITS, decimal_places=COST_PLACES, default=0
    )  # as of a conversation
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

    def __str__(self) -> str:
        return f"turn {self.pk}"


class TurnText(StoredRow):
    """What a search looks through: a question and its answers, folded (`storage.folding`) and bounded.

    The index of its trigrams stands in its migration, `search`: of PostgreSQL one of pg_trgm, of
    SQLite a table of FTS5 that triggers of this table keep. Whatever deletes a row here takes it along.
    """

    turn = models.OneToOneField(
        Turn, primary_key=True, on_delete=models.CASCADE, related_name="search_text"
    )
    conversation = models.ForeignKey(Conversation, on_delete=models.CASCADE, related_name="+")
    text = models.TextField()

    def __str__(self) -> str:
        return f"text of turn {self.turn_id}"
