"""Transcripts: conversations rebuilt from a stateless stream, each message stored once.

EndUser > Conversation > Node (the tree of messages) > Turn (a question and its answer) > Run (one HTTP
request) > Event. Big and repeated things are Blobs. Nodes are never changed once written.

A foreign key has no index of its own (`db_index=False`) where another index begins with it. Those
that remain are needed at a deletion, when the database looks for what refers to a row.
"""

from functools import reduce
import operator
from typing import ClassVar, Self
import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot, CopilotVersion
from copilot_admin.models.fields import JsonField, OrderedJsonField
from copilot_admin.models.prices import COST_DIGITS, COST_PLACES, PRICE_DIGITS, PRICE_PLACES
from copilot_admin.models.stored_row import StoredRow
from protocol.json import JsonObject

LONGEST_USER = 254  # characters: the longest e-mail address
HASH_LENGTH = 32  # hexadecimal digits of a 128-bit keyed BLAKE2b


class ReviewState(models.TextChoices):
    """How far a reviewer has come with a conversation."""

    NEW = "new", _("New")
    IN_REVIEW = "in_review", _("In review")
    DONE = "done", _("Done")


class Outcome(models.TextChoices):
    """How a run ended. Accepted runs are always the sum of all these."""

    RUNNING = "running", _("Running")
    COMPLETED = "completed", _("Completed")
    TRUNCATED = "truncated", _("Truncated")
    FAILED = "failed", _("Failed")
    CRASHED = "crashed", _("Crashed")
    CANCELLED = "cancelled", _("Cancelled")
    INTERRUPTED = "interrupted", _("Interrupted")
    REFUSED = "refused", _("Refused")


# An OR of equal signs: SQLite uses a partial index only if its condition is a part of the query's.
NOT_COMPLETED = reduce(
    operator.or_,
    (Q(last_outcome=outcome) for outcome in Outcome if outcome is not Outcome.COMPLETED),
)


class TurnState(models.TextChoices):
    """Where a question and its answer stand."""

    OPEN = "open", _("Open")
    AWAITING_RESULT = "awaiting_result", _("Waiting for the client's data")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")
    ABANDONED = "abandoned", _("Abandoned")


class NodeRole(models.TextChoices):
    """Who wrote a message."""

    HUMAN = "human", _("Human")
    AI = "ai", _("Copilot")
    TOOL = "tool", _("Client")


class NodeKind(models.TextChoices):
    """What a message is."""

    TEXT = "text", _("Text")
    CALL = "call", _("Function call")
    RESULT = "result", _("Function result")


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


class CostConfidence(models.TextChoices):
    """How well the cost of a run is known."""

    EXACT = "exact", _("Exact")
    ESTIMATED = "estimated", _("Estimated")
    UNKNOWN = "unknown", _("Unknown")


class Blob(StoredRow):
    """A big or repeated thing, stored once under the SHA-256 of its plain bytes."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    data = models.BinaryField()  # zlib
    size = models.PositiveBigIntegerField()  # bytes before compression
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.sha256[:12]


class BlobPart(StoredRow):
    """That a blob refers to another one: what is referred to may not be swept."""

    whole = models.ForeignKey(Blob, on_delete=models.CASCADE, related_name="+", db_index=False)
    part = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+", db_index=False)

    class Meta:
        indexes = [models.Index(fields=["part"], name="blob_part_of")]
        constraints = [models.UniqueConstraint(fields=["whole", "part"], name="blob_part_once")]

    def __str__(self) -> str:
        return f"{self.whole_id[:12]} > {self.part_id[:12]}"


class EndUser(StoredRow):
    """Somebody who asks, as a token or a trusted proxy names him; what he asked refers to him.

    Whoever erases him takes first what is his: neither conversations nor requests lose their user.
    """

    identifier = models.CharField(_("id"), max_length=LONGEST_USER, unique=True)
    email = models.CharField(_("e-mail"), max_length=LONGEST_USER, blank=True)
    name = models.CharField(_("name"), max_length=LONGEST_USER, blank=True)
    source = models.CharField(max_length=5)  # a `copilots.users.UserSource`
    digest = models.CharField(max_length=32, blank=True)  # what providers are told instead of him
    first_at = models.DateTimeField(_("first asked"))
    last_at = models.DateTimeField(_("last seen"))  # to the hour

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        ordering = ["identifier"]
        indexes = [
            models.Index(fields=["email"], name="end_user_email"),
            models.Index(fields=["name"], name="end_user_name"),
            models.Index(fields=["digest"], name="end_user_digest"),
        ]

    def __str__(self) -> str:
        return self.name or self.email or self.identifier


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


class Node(StoredRow):
    """One message of a conversation, under the message it followed."""

    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="nodes", db_index=False
    )
    parent = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="children")
    depth = models.PositiveIntegerField()
    role = models.CharField(max_length=5, choices=NodeRole.choices)
    kind = models.CharField(max_length=6, choices=NodeKind.choices)
    agent = models.CharField(max_length=200, blank=True)  # who gave the task or the answer
    text = models.TextField(blank=True)
    blob = models.ForeignKey(
        Blob, null=True, on_delete=models.PROTECT, related_name="+", db_index=False
    )
    chain_hash = models.CharField(max_length=HASH_LENGTH)
    client_hash = models.CharField(max_length=HASH_LENGTH)
    echo_differs = models.BooleanField(default=False)
    from_history = models.BooleanField(default=False)
    created_at = models.DateTimeField()

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

    def __str__(self) -> str:
        return f"{self.role} {self.kind} {self.pk}"


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


class SeenKind(models.TextChoices):
    """A column of the log whose values are noted, so that filters can offer them."""

    MODEL = "model", _("Model")
    ERROR = "error", _("Kind of error")
    REASON = "reason", _("Reason of a thumb")


class SeenValue(StoredRow):
    """A value that the log has somewhere: choices of filters come from here, not from the log."""

    kind = models.CharField(max_length=10, choices=SeenKind.choices)
    value = models.CharField(max_length=200)

    class Meta:
        ordering = ["kind", "value"]
        constraints = [models.UniqueConstraint(fields=["kind", "value"], name="seen_value_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"


class Filling(StoredRow):
    """What is still to be written for rows that are older than a table or a column; gone when done."""

    name = models.CharField(max_length=20, primary_key=True)
    below = models.BigIntegerField()  # rows with smaller ids wait; the newest are done first
    moved_at = models.DateTimeField(null=True)  # when a batch was last done

    class Meta:
        permissions: ClassVar = [
            ("watch_background", "Can see and stop what runs in the background")
        ]

    def __str__(self) -> str:
        return f"{self.name} below {self.below}"


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


class FeedbackSource(models.TextChoices):
    """Whose judgement it is: an end user's or a reviewer's."""

    END_USER = "end_user", _("User of the copilot")
    REVIEWER = "reviewer", _("Reviewer")


class Feedback(StoredRow):
    """A judgement on a turn."""

    turn = models.ForeignKey(  # its own index would be the beginning of that of the constraint
        Turn, on_delete=models.CASCADE, related_name="feedback", db_index=False
    )
    source = models.CharField(max_length=10, choices=FeedbackSource.choices)
    value = models.SmallIntegerField()  # +1 or -1
    counted = models.SmallIntegerField(default=0)  # the value that is in the rollups
    tags = JsonField(default=list)
    comment = models.TextField(blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)  # of what is given again the last time

    class Meta:
        ordering = ["created_at"]
        verbose_name_plural = "feedback"
        constraints = [models.UniqueConstraint(fields=["turn", "source"], name="feedback_once")]
        indexes = [  # alerts count them every minute
            models.Index(
                fields=["created_at"],
                condition=Q(source=FeedbackSource.END_USER, value=-1),
                name="feedback_complaints",
            )
        ]

    def __str__(self) -> str:
        return f"{self.source} {self.value:+d}"
