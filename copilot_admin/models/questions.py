"""Questions that are kept with a copilot, and the newest answers of its draft and its live version."""

from typing import TYPE_CHECKING

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot
from copilot_admin.models.fields import OrderedJsonField

if TYPE_CHECKING:
    from collections.abc import Mapping

    from protocol.json import Json

DIGEST_LENGTH = 64


class Side(models.TextChoices):
    """Who is asked."""

    DRAFT = "draft", _("Draft")
    LIVE = "live", _("Live")


class AnswerState(models.TextChoices):
    """How far asking has come."""

    WAITING = "waiting", _("Waiting")
    ASKING = "asking", _("Being asked")
    DONE = "done", _("Done")


class Judgement(models.TextChoices):
    """What became of an answer."""

    AS_EXPECTED = "as-expected", _("As expected")
    NOT_AS_EXPECTED = "not-as-expected", _("Not as expected")
    ANSWERED = "answered", _("Answered, nothing was expected")
    UNDECIDED = "undecided", _("Could not be found out")


class SavedQuestion(models.Model):
    """A question with what it brings along; `body` and `expectation` are parts of a file's entry."""

    copilot = models.ForeignKey(
        Copilot, on_delete=models.CASCADE, related_name="saved_questions", db_index=False
    )
    position = models.PositiveIntegerField()
    question = models.TextField(_("question"))
    body: "models.Field[Mapping[str, Json], Mapping[str, Json]]" = OrderedJsonField(default=dict)
    expectation: "models.Field[Mapping[str, Json], Mapping[str, Json]]" = OrderedJsonField(
        default=dict
    )
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("saved question")
        verbose_name_plural = _("saved questions")
        ordering = ["copilot", "position", "id"]
        indexes = [
            models.Index(fields=["copilot", "position", "id"], name="saved_question_of_copilot")
        ]

    def __str__(self) -> str:
        return self.question


class SavedAnswer(models.Model):
    """The newest answer of one side, which stays until the next one is whole.

    `state` and `claimed_at` are the queue of those who ask; the rest is of the answer.
    """

    question = models.ForeignKey(
        SavedQuestion, on_delete=models.CASCADE, related_name="answers", db_index=False
    )
    side = models.CharField(max_length=5, choices=Side.choices)
    state = models.CharField(max_length=7, choices=AnswerState.choices)
    claimed_at = models.DateTimeField(null=True)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    version_number = models.PositiveIntegerField(default=0)  # 0: a draft, which has a digest
    digest = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    judgement = models.CharField(max_length=15, choices=Judgement.choices, blank=True)
    reason = models.TextField(blank=True)
    text = models.TextField(blank=True)
    trace_id = models.CharField(max_length=128, blank=True)
    ttft_ms = models.PositiveIntegerField(null=True)
    ms = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    answered_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("saved answer")
        verbose_name_plural = _("saved answers")
        ordering = ["question", "side"]
        indexes = [
            models.Index(
                fields=["claimed_at"],
                condition=~Q(state="done"),
                name="saved_answer_unfinished",
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["question", "side"], name="saved_answer_once")
        ]

    def __str__(self) -> str:
        return f"{self.side} {self.judgement or self.state}"
