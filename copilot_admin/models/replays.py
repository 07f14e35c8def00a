"""Saved questions asked once more of one draft, version or model, beside what was answered before."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot, Provider
from copilot_admin.models.fields import OrderedJsonField
from copilot_admin.models.prices import COST_DIGITS, COST_PLACES
from copilot_admin.models.questions import AnswerState, Judgement, SavedQuestion
from copilot_admin.models.stored_row import StoredRow

if TYPE_CHECKING:
    from collections.abc import Mapping

    from protocol.json import Json

LONGEST_HEAD = 300  # characters of a question that a replay keeps, should the question be deleted


class ReplayTarget(models.TextChoices):
    """Which version or model answers the questions of a replay."""

    DRAFT = "draft", _("Draft")
    VERSION = "version", _("Version")
    MODEL = "model", _("Draft with another model")


class ReplayState(models.TextChoices):
    """How far a replay has come."""

    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    PAUSED = "paused", _("Paused")
    DONE = "done", _("Done")
    STOPPED = "stopped", _("Stopped")
    COST_BOUND = "cost-bound", _("Stopped by its bound on cost")


class Baseline(models.TextChoices):
    """What an answer is compared with."""

    NONE = "none", _("Nothing")
    RECORDED = "recorded", _("The recorded answer")
    LIVE = "live", _("The last answer of what was live")


class Replay(StoredRow):
    """One pass over saved questions.

    `document` is the draft as it stood at the start: a replay is of one thing, whatever is edited meanwhile.
    """

    copilot = models.ForeignKey(
        Copilot, on_delete=models.CASCADE, related_name="replays", db_index=False
    )
    target = models.CharField(_("target"), max_length=7, choices=ReplayTarget.choices)
    version_number = models.PositiveIntegerField(default=0)  # 0: the draft
    document: "models.Field[Mapping[str, Json], Mapping[str, Json]]" = OrderedJsonField(
        default=dict
    )
    provider = models.ForeignKey(Provider, null=True, on_delete=models.SET_NULL, related_name="+")
    provider_name = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    label = models.CharField(max_length=60, blank=True)  # of the questions, where one was chosen
    state = models.CharField(
        max_length=10, choices=ReplayState.choices, default=ReplayState.WAITING
    )
    most_cost = models.DecimalField(
        max_digits=COST_DIGITS, decimal_places=COST_PLACES, null=True
    )  # in US dollars; None: no bound
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    moved_at = models.DateTimeField()  # the last sign of life of whoever asks
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


class ReplayAnswer(StoredRow):
    """One question of a replay: both answers as they stood when the new one came."""

    replay = models.ForeignKey(
        Replay, on_delete=models.CASCADE, related_name="answers", db_index=False
    )
    question = models.ForeignKey(
        SavedQuestion, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    origin = models.BigIntegerField(null=True)  # of the question, which may be deleted before
    position = models.PositiveIntegerField()
    head = models.CharField(max_length=LONGEST_HEAD)
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
    cost = models.DecimalField(max_digits=COST_DIGITS, decimal_places=COST_PLACES, null=True)
    cost_is_estimated = models.BooleanField(default=False)
    answered_at = models.DateTimeField(null=True)
    baseline = models.CharField(max_length=8, choices=Baseline.choices, default=Baseline.NONE)
    before_text = models.TextField(blank=True)
    before_ms = models.PositiveIntegerField(default=0)
    before_tokens = models.PositiveBigIntegerField(default=0)
    before_cost = models.DecimalField(max_digits=COST_DIGITS, decimal_places=COST_PLACES, null=True)
    is_changed = models.BooleanField(null=True)  # None: one of both answers is missing
    is_slower = models.BooleanField(null=True)

    class Meta:
        verbose_name = _("answer of a replay")
        verbose_name_plural = _("answers of a replay")
        ordering = ["replay", "position"]
        indexes = [
            models.Index(
                fields=["origin"],
                condition=Q(origin__isnull=False),
                name="replay_answer_of_origin",
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["replay", "position"], name="replay_answer_once")
        ]

    def __str__(self) -> str:
        return f"{self.replay_id}/{self.position} {self.state}"
