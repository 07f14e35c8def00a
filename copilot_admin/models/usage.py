"""Rollups: usage counted per hour and per day.

Analytics read these tables and never the runs. Each hourly row is also part of its day, so that long
periods read few rows. Rollups outlive conversations and go with their copilot.
"""

from django.db import models
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot
from copilot_admin.models.fields import Record
from copilot_admin.models.pricing import COST
from copilot_admin.models.review import Criterion

# Upper ends of the steps of times to the first token, in milliseconds: ten to each power of ten.
TTFT_LIMITS = tuple(round(50 * 10 ** (step / 10)) for step in range(31))
TTFT_COLUMNS = tuple(f"ttft_{step:02}" for step in range(len(TTFT_LIMITS) + 1))


def _number() -> "models.PositiveBigIntegerField[int, int]":
    return models.PositiveBigIntegerField(default=0)


class UsageCounts(Record):
    """Counts of one version and model; a run counts when it has ended.

    Feedback and verdicts count in the period of their question.
    """

    copilot = models.ForeignKey(Copilot, models.CASCADE, related_name="+")
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
        constraints = [
            models.UniqueConstraint(fields=["day", "copilot", "version", "model"], name="usage_row")
        ]


class DailyTotal(UsageCounts):
    """Counts of a day with all models together (`model` is empty), for long periods."""

    day = models.DateField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["day", "copilot", "version"], name="daily_total_row")
        ]


class HourlyUsage(UsageCounts):
    """Counts of an hour; `hour` is its beginning."""

    # The index below starts with it.
    copilot = models.ForeignKey(Copilot, models.CASCADE, related_name="+", db_index=False)
    hour = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hour", "copilot", "version", "model"], name="hourly_usage_row"
            )
        ]
        indexes = [models.Index(fields=["copilot", "hour"], name="hourly_usage_of_copilot")]


class ErrorUsage(Record):
    """Number of errors of a kind in an hour."""

    hour = models.DateTimeField()
    copilot = models.ForeignKey(Copilot, models.CASCADE, related_name="+")
    code = models.CharField(max_length=50)
    number = _number()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hour", "copilot", "code"], name="error_usage_row")
        ]


class CriterionUsage(Record):
    """Number and sum of the labels or scores given to questions of an hour."""

    hour = models.DateTimeField()
    copilot = models.ForeignKey(Copilot, models.CASCADE, related_name="+")
    criterion = models.ForeignKey(Criterion, models.CASCADE, related_name="+")
    number = _number()
    total = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["hour", "copilot", "criterion"], name="criterion_usage_row"
            )
        ]


class CallerDay(Record):
    """Use of a copilot by one caller on a day: distinct callers can't be summed over days and copilots.

    It has a row for each caller who got an answer; rejections aren't counted in it.
    """

    day = models.DateField()
    copilot = models.ForeignKey(Copilot, models.CASCADE, related_name="+")
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
        constraints = [
            models.UniqueConstraint(fields=["day", "copilot", "principal"], name="caller_of_day")
        ]


class ToolKind(models.TextChoices):
    WIDGET = "widget", _("Widget")  # whose data was fetched
    CLIENT = "client", _("Workspace function")
    SERVER = "server", _("Tool")


class ToolUsage(Record):
    """Number of calls of a widget, client function or server tool on a day."""

    day = models.DateField()
    copilot = models.ForeignKey(Copilot, models.CASCADE, related_name="+")
    kind = models.CharField(max_length=10, choices=ToolKind.choices)
    name = models.CharField(max_length=200)
    number = _number()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["day", "copilot", "kind", "name"], name="tool_usage_row"
            )
        ]


ROLLUPS: tuple[type[models.Model], ...] = (
    DailyTotal,
    DailyUsage,
    HourlyUsage,
    ErrorUsage,
    CriterionUsage,
    CallerDay,
    ToolUsage,
)
