"""Limits set by operators, and the requests that they rejected."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.fields import Record

MAX_LIMIT_SUBJECT_LENGTH = 255  # characters: the id of a user, as tokens have it
MAX_LIMIT = 10**12  # requests or tokens; what counts them is exact up to 2**53
MAX_LIMIT_DOLLARS = 1_000_000  # which are counted in billionths


class LimitScope(models.TextChoices):
    SERVER = "server", _("Server")
    COPILOT = "copilot", _("Copilot")
    KEY = "key", _("API key")
    USER = "user", _("User")
    ADDRESS = "address", _("IP address")


class SubjectLimits(models.Model):
    """Limits of the server, a key, a user or an address; copilots have their own column.

    Without a subject they are the defaults of all keys, users or addresses.
    """

    scope = models.CharField(_("kind"), max_length=10, choices=LimitScope.choices)
    subject = models.CharField(_("subject"), max_length=MAX_LIMIT_SUBJECT_LENGTH, blank=True)
    limits = models.JSONField(_("limits"), default=dict, blank=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("limit")
        verbose_name_plural = _("limits")
        ordering = ["scope", "subject"]
        constraints = [
            models.UniqueConstraint(fields=["scope", "subject"], name="limits_of_subject")
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.subject}".strip()


class LimitRejection(Record):
    """Requests of one minute that a limit rejected; rows are kept for some days."""

    minute = models.DateTimeField()
    scope = models.CharField(max_length=10, choices=LimitScope.choices)
    subject = models.CharField(max_length=MAX_LIMIT_SUBJECT_LENGTH, blank=True)  # "": not recorded
    kind = models.CharField(max_length=30)  # key of the limit
    number = models.PositiveIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["minute", "scope", "subject", "kind"], name="rejections_of_minute"
            )
        ]
