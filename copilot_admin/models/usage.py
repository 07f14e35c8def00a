"""Rollups: usage counted per hour and per day.

Analytics read these tables and never the runs. Each hourly row is also part of its day, so that long
periods read few rows. Rollups outlive conversations and go with their copilot.
"""

from django.db import models
from django.db.models import CASCADE
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot
from copilot_admin.models.fields import Record, index, unique
from copilot_admin.models.pricing import COST
from copilot_admin.models.review import Criterion

# Upper ends of the steps of times to the first token, in milliseconds: ten to each power of ten.
TTFT_LIMITS = tuple(round(50 * 10 ** (step / 10)) for step in range(31))
TTFT_COLUMNS = tuple(f"ttft_{step:02}" for step in range(len(TTFT_LIMITS) + 1))
MAX_LIMIT_SUBJECT_LENGTH = 255  # characters: the id of a user, as tokens have it
MAX_LIMIT = 10**12  # requests or tokens; what counts them is exact up to 2**53
MAX_LIMIT_DOLLARS = 1_000_000  # which are counted in billionths


def _number() -> "models.PositiveBigIntegerField[int, int]":
    return models.PositiveBigIntegerField(default=0)


class UsageCounts(Record):
    """Counts of one version and model; a run counts when it has ended."""

    copilot = models.ForeignKey(Copilot, CASCADE, related_name="+")
    version = models.PositiveIntegerField(default=0)  # 0: none answered
    model = models.CharField(max_length=200, blank=True)
    runs = _number()
    questions = _number()
    conversations = _number()  # that began
    errors = _number()  # failed, crashed and interrupted
    completed = _number()
    truncated = _number()
    failed = _number()
    crashed = _number()
    cancelled = _number()
    interrupted = _number()
    refused = _number()
    tokens = _number()  # read and written
    output_tokens = _number()  # the written part of `tokens`
    cost = models.DecimalField(**COST, default=0)  # as far as it is known
    unpriced = _number()  # runs of unknown cost
    up = _number()
    down = _number()
    good = _number()
    mixed = _number()
    bad = _number()

    class Meta:
        abstract = True


for _name in TTFT_COLUMNS:  # so that `F()` can count without a read
    UsageCounts.add_to_class(_name, _number())


class DailyUsage(UsageCounts):
    day = models.DateField()

    class Meta:
        constraints = [unique("usage_row", "day copilot version model")]


class DailyTotal(UsageCounts):
    """Counts of a day with all models together (`model` is empty), for long periods."""

    day = models.DateField()

    class Meta:
        constraints = [unique("daily_total_row", "day copilot version")]


class HourlyUsage(UsageCounts):
    """Counts of an hour; `hour` is its beginning."""

    # The index below starts with it.
    copilot = models.ForeignKey(Copilot, CASCADE, related_name="+", db_index=False)
    hour = models.DateTimeField()

    class Meta:
        constraints = [unique("hourly_usage_row", "hour copilot version model")]
        indexes = [index("hourly_usage_of_copilot", "copilot hour")]


class ErrorUsage(Record):
    """Number of errors of a kind in an hour."""

    hour = models.DateTimeField()
    copilot = models.ForeignKey(Copilot, CASCADE, related_name="+")
    code = models.CharField(max_length=50)
    number = _number()

    class Meta:
        constraints = [unique("error_usage_row", "hour copilot code")]


class CriterionUsage(Record):
    """Number and sum of the labels or scores given to questions of an hour."""

    hour = models.DateTimeField()
    copilot = models.ForeignKey(Copilot, CASCADE, related_name="+")
    criterion = models.ForeignKey(Criterion, CASCADE, related_name="+")
    number = _number()
    total = models.BigIntegerField(default=0)

    class Meta:
        constraints = [unique("criterion_usage_row", "hour copilot criterion")]


class CallerDay(Record):
    """Use of a copilot by one caller on a day: distinct callers can't be summed over days and copilots."""

    day = models.DateField()
    copilot = models.ForeignKey(Copilot, CASCADE, related_name="+")
    principal = models.CharField(max_length=100)
    first_hour = models.PositiveSmallIntegerField()  # of the day, in which the first was asked
    runs = _number()
    questions = _number()
    errors = _number()
    tokens = _number()
    cost = models.DecimalField(**COST, default=0)
    unpriced = _number()
    up = _number()
    down = _number()

    class Meta:
        constraints = [unique("caller_of_day", "day copilot principal")]


class ToolKind(models.TextChoices):
    WIDGET = "widget", _("Widget")  # whose data was fetched
    CLIENT = "client", _("Workspace function")
    SERVER = "server", _("Tool")


class ToolUsage(Record):
    """Number of calls of a widget, client function or server tool on a day."""

    day = models.DateField()
    copilot = models.ForeignKey(Copilot, CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=ToolKind.choices)
    name = models.CharField(max_length=200)
    number = _number()

    class Meta:
        constraints = [unique("tool_usage_row", "day copilot kind name")]


ROLLUPS: tuple[type[models.Model], ...] = (
    DailyTotal,
    DailyUsage,
    HourlyUsage,
    ErrorUsage,
    CriterionUsage,
    CallerDay,
    ToolUsage,
)


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
        constraints = [unique("limits_of_subject", "scope subject")]

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
        constraints = [unique("rejections_of_minute", "minute scope subject kind")]
