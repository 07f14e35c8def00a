"""Thumbs of users, and of reviewers."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.fields import JsonField
from copilot_admin.models.stored_row import StoredRow
from copilot_admin.models.turns import Turn


class FeedbackSource(models.TextChoices):
    """Whose judgement it is: an end user's or a reviewer's."""

    END_USER = "end_user", _("User of the copilot")
    REVIEWER = "reviewer", _("Reviewer")


class Feedback(StoredRow):
    """What somebody thinks of the answer of a turn: a thumb, and words to it."""

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
