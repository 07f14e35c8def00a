"""Saved questions, their answers, and replays of them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot, Provider
from copilot_admin.models.fields import OrderedJsonField
from copilot_admin.models.pricing import COST

if TYPE_CHECKING:
    from protocol.json import Json

DIGEST_LENGTH = 64
MAX_LABEL_LENGTH = 60


class Side(models.TextChoices):
    DRAFT = "draft", _("Draft")
    LIVE = "live", _("Live")


class AnswerState(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    ASKING = "asking", _("Being asked")
    DONE = "done", _("Done")


class Judgement(models.TextChoices):
    AS_EXPECTED = "as-expected", _("As expected")
    NOT_AS_EXPECTED = "not-as-expected", _("Not as expected")
    ANSWERED = "answered", _("Answered, nothing was expected")
    UNDECIDED = "undecided", _("Could not be found out")


class SavedQuestion(models.Model):
    """A test question with its request body and expectation, as in a copilot file."""

    copilot = models.ForeignKey(
        Copilot, models.CASCADE, related_name="saved_questions", db_index=False
    )
    position = models.PositiveIntegerField()
    question = models.TextField(_("question"))
    body: "models.Field[Mapping[str, Json], Mapping[str, Json]]" = OrderedJsonField(default=dict)
    expectation: "models.Field[Mapping[str, Json], Mapping[str, Json]]" = OrderedJsonField(
        default=dict
    )
    label = models.CharField(_("label"), max_length=MAX_LABEL_LENGTH, blank=True)
    # Hash of question and body, to find duplicates.
    digest = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    # Id of the source conversation: its erasure deletes the question and its copies.
    origin = models.BigIntegerField(null=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("saved question")
        verbose_name_plural = _("saved questions")
        ordering = ["copilot", "position", "id"]
        indexes = [
            models.Index(fields=["copilot", "position", "id"], name="saved_question_of_copilot"),
            models.Index(fields=["copilot", "digest"], name="saved_question_same"),
            models.Index(
                fields=["origin"],
                condition=Q(origin__isnull=False),
                name="saved_question_of_origin",
            ),
        ]

    def __str__(self) -> str:
        return self.question


class RecordedAnswer(models.Model):
    """The answer in the source conversation, used as a baseline.

    `conversation` and `turn` aren't foreign keys: the question outlives its transcript.
    """

    question = models.OneToOneField(
        SavedQuestion, models.CASCADE, primary_key=True, related_name="recorded"
    )
    conversation = models.BigIntegerField()
    turn = models.BigIntegerField(db_index=True)
    text = models.TextField(blank=True)
    failure = models.TextField(blank=True)  # why it is no whole answer
    provider = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    version_number = models.PositiveIntegerField(null=True)  # None: it is gone, or was a draft
    ttft_ms = models.PositiveIntegerField(null=True)
    ms = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(**COST, null=True)  # None: unknown
    cost_is_estimated = models.BooleanField(default=False)
    answered_at = models.DateTimeField()

    class Meta:
        verbose_name = _("recorded answer")
        verbose_name_plural = _("recorded answers")

    def __str__(self) -> str:
        return f"turn {self.turn}"


class SavedAnswer(models.Model):
    """The newest answer of the draft or the live version, kept until the next one is complete.

    `state` and `claimed_at` are the work queue.
    """

    question = models.ForeignKey(
        SavedQuestion, models.CASCADE, related_name="answers", db_index=False
    )
    side = models.CharField(max_length=5, choices=Side.choices)
    state = models.CharField(max_length=7, choices=AnswerState.choices)
    claimed_at = models.DateTimeField(null=True)
    asked_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    version_number = models.PositiveIntegerField(default=0)  # 0: a draft, which has a digest
    digest = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    judgement = models.CharField(max_length=15, choices=Judgement.choices, blank=True)
    reason = models.TextField(blank=True)
    text = models.TextField(blank=True)
    failed = models.BooleanField(default=False, db_default=False)  # there is no whole answer
    trace_id = models.CharField(max_length=128, blank=True)
    ttft_ms = models.PositiveIntegerField(null=True)
    ms = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(**COST, null=True)  # None: unknown
    answered_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("saved answer")
        verbose_name_plural = _("saved answers")
        ordering = ["question", "side"]
        indexes = [
            models.Index(
                fields=["claimed_at"], condition=~Q(state="done"), name="saved_answer_unfinished"
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["question", "side"], name="saved_answer_once")
        ]

    def __str__(self) -> str:
        return f"{self.side} {self.judgement or self.state}"


MAX_EXCERPT_LENGTH = (
    300  # characters of a question that a replay keeps, should the question be deleted
)


class ReplayTarget(models.TextChoices):
    DRAFT = "draft", _("Draft")
    VERSION = "version", _("Version")
    MODEL = "model", _("Draft with another model")


class ReplayState(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    PAUSED = "paused", _("Paused")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    COST_BOUND = "cost-bound", _("Stopped by its bound on cost")


class Baseline(models.TextChoices):
    NONE = "none", _("Nothing")
    RECORDED = "recorded", _("The recorded answer")
    LIVE = "live", _("The last answer of what was live")


class Replay(models.Model):
    """An evaluation run over saved questions; `document` is the draft at its start."""

    copilot = models.ForeignKey(Copilot, models.CASCADE, related_name="replays", db_index=False)
    target = models.CharField(_("target"), max_length=7, choices=ReplayTarget.choices)
    version_number = models.PositiveIntegerField(default=0)  # 0: the draft
    document: "models.Field[Mapping[str, Json], Mapping[str, Json]]" = OrderedJsonField(
        default=dict
    )
    provider = models.ForeignKey(Provider, models.SET_NULL, null=True, related_name="+")
    provider_name = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    label = models.CharField(max_length=60, blank=True)  # of the questions, where one was chosen
    state = models.CharField(
        max_length=10, choices=ReplayState.choices, default=ReplayState.WAITING
    )
    most_cost = models.DecimalField(**COST, null=True)  # in US dollars; None: no bound
    asked_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    moved_at = models.DateTimeField()  # heartbeat of the worker
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("replay")
        verbose_name_plural = _("replays")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["copilot", "-id"], name="replay_of_copilot"),
            models.Index(
                fields=["moved_at"],
                condition=Q(state="waiting") | Q(state="running"),
                name="replay_unfinished",
            ),
        ]

    def __str__(self) -> str:
        return f"replay {self.pk} {self.state}"


class ReplayAnswer(models.Model):
    """A result of a replay: the new answer next to the earlier one."""

    replay = models.ForeignKey(Replay, models.CASCADE, related_name="answers", db_index=False)
    question = models.ForeignKey(SavedQuestion, models.SET_NULL, null=True, related_name="+")
    origin = models.BigIntegerField(null=True)  # of the question, which may be deleted before
    position = models.PositiveIntegerField()
    head = models.CharField(max_length=MAX_EXCERPT_LENGTH)
    state = models.CharField(max_length=7, choices=AnswerState.choices, default=AnswerState.WAITING)
    claimed_at = models.DateTimeField(null=True)
    judgement = models.CharField(max_length=15, choices=Judgement.choices, blank=True)
    reason = models.TextField(blank=True)
    failure = models.TextField(blank=True)
    text = models.TextField(blank=True)
    trace_id = models.CharField(max_length=128, blank=True)
    ttft_ms = models.PositiveIntegerField(null=True)
    ms = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(**COST, null=True)
    cost_is_estimated = models.BooleanField(default=False)
    answered_at = models.DateTimeField(null=True)
    baseline = models.CharField(max_length=8, choices=Baseline.choices, default=Baseline.NONE)
    before_text = models.TextField(blank=True)
    before_ms = models.PositiveIntegerField(default=0)
    before_tokens = models.PositiveBigIntegerField(default=0)
    before_cost = models.DecimalField(**COST, null=True)
    is_changed = models.BooleanField(null=True)  # None: one of both answers is missing
    is_slower = models.BooleanField(null=True)

    class Meta:
        verbose_name = _("answer of a replay")
        verbose_name_plural = _("answers of a replay")
        ordering = ["replay", "position"]
        indexes = [
            models.Index(
                fields=["origin"], condition=Q(origin__isnull=False), name="replay_answer_of_origin"
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["replay", "position"], name="replay_answer_once")
        ]

    def __str__(self) -> str:
        return f"{self.replay_id}/{self.position} {self.state}"
