"""Feedback of users, verdicts and notes of reviewers, review queues, saved views, filter values."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import CASCADE, PROTECT, SET_NULL, F, Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.conversations import Conversation
from copilot_admin.models.fields import Record, index, unique
from copilot_admin.models.runs import Turn

MAX_VIEW_NAME_LENGTH = 60


class FeedbackSource(models.TextChoices):
    END_USER = "end_user", _("User of the copilot")
    REVIEWER = "reviewer", _("Reviewer")


class Feedback(Record):
    """A thumb up or down for the answer of a turn, with an optional comment."""

    turn = models.ForeignKey(  # its own index would be the beginning of that of the constraint
        Turn, on_delete=CASCADE, related_name="feedback", db_index=False
    )
    source = models.CharField(max_length=10, choices=FeedbackSource.choices)
    value = models.SmallIntegerField()  # +1 or -1
    counted = models.SmallIntegerField(default=0)  # the value that is in the rollups
    tags = models.JSONField(default=list)
    comment = models.TextField(blank=True)
    author = models.ForeignKey(User, SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)  # of what is given again the last time

    class Meta:
        ordering = ["created_at"]
        verbose_name_plural = "feedback"
        constraints = [unique("feedback_once", "turn source")]
        indexes = [  # alerts count them every minute
            index("feedback_complaints", "created_at", Q(source=FeedbackSource.END_USER, value=-1))
        ]

    @property
    def is_good(self) -> bool:
        return self.value > 0

    @property
    def is_of_user(self) -> bool:
        return self.source == FeedbackSource.END_USER


class Rating(models.TextChoices):
    GOOD = "good", _("Good")
    MIXED = "mixed", _("Mixed")
    BAD = "bad", _("Bad")


class CriterionKind(models.TextChoices):
    LABEL = "label", _("Label")
    SCORE = "score", _("Score")


class Criterion(models.Model):
    """A label or score that reviewers give."""

    name = models.CharField(_("name"), max_length=60, unique=True)
    kind = models.CharField(
        _("kind"), max_length=5, choices=CriterionKind.choices, default=CriterionKind.LABEL
    )
    help = models.CharField(
        _("explanation"),
        max_length=200,
        blank=True,
        help_text=_("When to use it. For a score, what the lowest and highest values mean."),
    )
    lowest = models.SmallIntegerField(_("lowest score"), default=1)
    highest = models.SmallIntegerField(_("highest score"), default=5)
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    is_retired = models.BooleanField(
        _("archived"),
        default=False,
        help_text=_("No longer offered to reviewers. Earlier reviews keep it."),
    )

    class Meta:
        verbose_name = _("label or score")
        verbose_name_plural = _("labels and scores")
        ordering = ["position", "name"]
        constraints = [
            models.CheckConstraint(condition=Q(lowest__lt=F("highest")), name="criterion_range")
        ]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        if not -100 <= self.lowest < self.highest <= 100:
            raise ValidationError(
                {"highest": _("Scores go from a lower to a higher number, within -100 and 100.")}
            )


class Verdict(Record):
    conversation = models.ForeignKey(Conversation, CASCADE, related_name="verdicts")
    turn = models.ForeignKey(Turn, CASCADE, null=True, related_name="verdicts")
    author = models.ForeignKey(User, SET_NULL, null=True, related_name="+")
    rating = models.CharField(  # "" where a list only gave a label
        _("rating"), max_length=5, choices=Rating.choices, blank=True
    )
    comment = models.TextField(_("comment"), blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    is_counted = models.BooleanField(default=False)  # in the rollups

    class Meta:
        verbose_name = _("verdict")
        verbose_name_plural = _("verdicts")
        ordering = ["conversation", "id"]
        constraints = [
            unique("verdict_of_conversation_once", "conversation author", Q(turn__isnull=True)),
            unique("verdict_of_turn_once", "turn author", Q(turn__isnull=False)),
        ]


class Mark(Record):
    """The value of a label or score in a verdict."""

    verdict = models.ForeignKey(Verdict, CASCADE, related_name="marks", db_index=False)
    criterion = models.ForeignKey(Criterion, PROTECT, related_name="marks")
    value = models.SmallIntegerField()  # of a label 1

    class Meta:
        ordering = ["verdict", "criterion__position", "id"]
        constraints = [unique("mark_once", "verdict criterion")]


class TurnNote(Record):
    turn = models.ForeignKey(Turn, CASCADE, related_name="notes")
    author = models.ForeignKey(User, SET_NULL, null=True, related_name="+")
    text = models.TextField(_("note"))
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name = _("note")
        verbose_name_plural = _("notes")
        ordering = ["turn", "id"]


class ReviewQueue(models.Model):
    """A fixed set of conversations assigned to reviewers one by one."""

    name = models.CharField(_("name"), max_length=100)
    filters = models.TextField(blank=True)  # query string of the list
    n_matching = models.PositiveIntegerField(default=0)  # when it was created
    # Sample size in percent and the random seed; None: everything was taken.
    share = models.PositiveSmallIntegerField(null=True)
    seed = models.PositiveIntegerField(null=True)
    judges = models.PositiveSmallIntegerField(_("reviewers per conversation"), default=1)
    reviewers = models.ManyToManyField(
        User,
        verbose_name=_("assigned to"),
        blank=True,
        related_name="+",
        help_text=_("Leave empty to let every reviewer take the next conversation."),
    )
    is_closed = models.BooleanField(_("closed"), default=False)
    created_by = models.ForeignKey(User, SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("review queue")
        verbose_name_plural = _("review queues")
        ordering = ["-id"]

    def __str__(self) -> str:
        return self.name


class Assignment(Record):
    """A conversation of a queue that one person is to review: free, claimed, or done."""

    queue = models.ForeignKey(ReviewQueue, CASCADE, related_name="assignments", db_index=False)
    conversation = models.ForeignKey(Conversation, CASCADE, related_name="assignments")
    place = models.PositiveSmallIntegerField()  # from 1 to the queue's number of reviewers
    reviewer = models.ForeignKey(User, SET_NULL, null=True, related_name="+")
    # None where the queue names its reviewers: what they were given doesn't expire.
    claimed_at = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["queue", "id"]
        indexes = [index("seat_not_done", "queue id", Q(done_at__isnull=True))]
        constraints = [
            unique("seat_once", "queue conversation place"),
            # A reviewer gets a conversation at most once per queue.
            unique(
                "seat_of_reviewer_once", "queue conversation reviewer", Q(reviewer__isnull=False)
            ),
        ]


class SavedView(models.Model):
    """Named filters of the transcript list; shared views are visible to all reviewers."""

    owner = models.ForeignKey(User, CASCADE, related_name="+", db_index=False)
    name = models.CharField(_("name"), max_length=MAX_VIEW_NAME_LENGTH)
    query = models.TextField()  # query string of the list, without the page
    is_shared = models.BooleanField(_("shared"), default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("saved view")
        ordering = ["name", "id"]
        constraints = [unique("saved_view_once", "owner name")]

    def __str__(self) -> str:
        return self.name


class SeenKind(models.TextChoices):
    MODEL = "model", _("Model")
    ERROR = "error", _("Kind of error")
    REASON = "reason", _("Reason of a thumb")


class SeenValue(Record):
    """A value that occurs in the transcripts, offered as a choice by filters."""

    kind = models.CharField(max_length=10, choices=SeenKind.choices)
    value = models.CharField(max_length=200)

    class Meta:
        ordering = ["kind", "value"]
        constraints = [unique("seen_value_once", "kind value")]
