"""Test cases of copilots, evaluation runs over them, and their results."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import CASCADE, SET_NULL, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.models.copilots import Copilot, Provider
from copilot_admin.models.fields import OrderedJsonField, Record, index, unique
from copilot_admin.models.pricing import COST
from protocol.json import Json

DIGEST_LENGTH = 64
MAX_LABEL_LENGTH = 60


class TestCase(models.Model):
    """A question with its test data, and the assertions that its answer is checked by."""

    __test__: ClassVar = False  # for pytest, which collects classes named Test*

    copilot = models.ForeignKey(Copilot, CASCADE, related_name="test_cases", db_index=False)
    position = models.PositiveIntegerField()
    question = models.TextField(_("question"))
    test_data: "models.Field[Mapping[str, Json], Mapping[str, Json]]" = OrderedJsonField(
        default=dict
    )
    assertions: "models.Field[list[Mapping[str, Json]], list[Mapping[str, Json]]]" = (
        OrderedJsonField(default=list)
    )
    label = models.CharField(_("label"), max_length=MAX_LABEL_LENGTH, blank=True)
    # Hash of question and test data, to find duplicates.
    digest = models.CharField(max_length=DIGEST_LENGTH, blank=True)
    # Ids of the source conversation and turn, whose erasure deletes the test case. They aren't
    # foreign keys: the test case outlives a transcript that is only deleted.
    origin = models.BigIntegerField(null=True)
    source_turn = models.BigIntegerField(null=True)
    recorded_answer = models.TextField(blank=True)  # what the source turn was answered
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("test case")
        verbose_name_plural = _("test cases")
        ordering = ["copilot", "position", "id"]
        indexes = [
            index("test_case_of_copilot", "copilot position id"),
            index("test_case_same", "copilot digest"),
            index("test_case_of_origin", "origin", Q(origin__isnull=False)),
            index("test_case_of_turn", "source_turn", Q(source_turn__isnull=False)),
        ]

    def __str__(self) -> str:
        return self.question


class TargetKind(models.TextChoices):
    DRAFT = "draft", _("Draft")
    LIVE = "live", _("Live version")
    VERSION = "version", _("Version")
    MODEL = "model", _("Draft with another model")


class RunState(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    DONE = "done", _("Finished")
    CANCELLED = "cancelled", _("Cancelled")
    COST_LIMIT = "cost-limit", _("Stopped at the cost limit")


class EvaluationRun(models.Model):
    """All or some test cases, run on one target; `document` is the draft at the start."""

    ACTIVE: ClassVar = (RunState.WAITING, RunState.RUNNING)

    copilot = models.ForeignKey(Copilot, CASCADE, related_name="evaluation_runs", db_index=False)
    target = models.CharField(_("target"), max_length=7, choices=TargetKind.choices)
    version_number = models.PositiveIntegerField(default=0)  # 0: the draft
    document: "models.Field[Mapping[str, Json], Mapping[str, Json]]" = OrderedJsonField(
        default=dict
    )
    digest = models.CharField(max_length=DIGEST_LENGTH, blank=True)  # of the draft
    provider = models.ForeignKey(Provider, SET_NULL, null=True, related_name="+")
    provider_name = models.CharField(max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    # Model of judged assertions; blank: the model of the target.
    judge_provider = models.ForeignKey(Provider, SET_NULL, null=True, related_name="+")
    judge_model = models.CharField(max_length=200, blank=True)
    is_partial = models.BooleanField(default=False)  # not all test cases of the copilot
    state = models.CharField(max_length=10, choices=RunState.choices, default=RunState.WAITING)
    cost_limit = models.DecimalField(**COST, null=True)  # in US dollars; None: no limit
    started_by = models.ForeignKey(User, SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    heartbeat_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("evaluation run")
        verbose_name_plural = _("evaluation runs")
        ordering = ["-id"]
        indexes = [
            index("evaluation_run_of_copilot", "copilot -id"),
            index("evaluation_run_active", "heartbeat_at", Q(state="waiting") | Q(state="running")),
        ]

    def __str__(self) -> str:
        return f"evaluation run {self.pk} {self.state}"

    @property
    def is_active(self) -> bool:
        return self.state in self.ACTIVE

    @property
    def target_name(self) -> str:
        match self.target:
            case TargetKind.LIVE:
                return gettext("Live v%(number)d") % {"number": self.version_number}
            case TargetKind.VERSION:
                return gettext("Version %(number)d") % {"number": self.version_number}
            case TargetKind.MODEL:
                return self.model
        return gettext("Draft")


class ResultState(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")


class ResultVerdict(models.TextChoices):
    PASSED = "passed", _("Passed")
    FAILED = "failed", _("Failed")
    INCONCLUSIVE = "inconclusive", _("Inconclusive")
    ERROR = "error", _("Error")


class EvaluationResult(Record):
    """The answer to a test case in a run, and its verdict; `state` makes it the work queue."""

    run = models.ForeignKey(EvaluationRun, CASCADE, related_name="results", db_index=False)
    case = models.ForeignKey(TestCase, CASCADE, related_name="results")
    state = models.CharField(max_length=7, choices=ResultState.choices, default=ResultState.WAITING)
    heartbeat_at = models.DateTimeField(null=True)
    verdict = models.CharField(max_length=12, choices=ResultVerdict.choices, blank=True)
    # One for each assertion: what it demands, its verdict and the reason.
    outcomes: "models.JSONField[list[Any], list[Any]]" = models.JSONField(default=list)
    error = models.TextField(blank=True)  # why there is no whole answer
    answer = models.TextField(blank=True)
    is_changed = models.BooleanField(null=True)  # from the previous answer; None: there is none
    trace_id = models.CharField(max_length=128, blank=True)
    ttft_ms = models.PositiveIntegerField(null=True)
    ms = models.PositiveIntegerField(default=0)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(**COST, null=True)  # None: unknown
    cost_is_estimated = models.BooleanField(default=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("evaluation result")
        verbose_name_plural = _("evaluation results")
        ordering = ["run", "id"]
        constraints = [unique("evaluation_result_once", "run case")]


class PublishGate(Record):
    """Share of test cases that the draft of a copilot must pass before it is published."""

    copilot = models.OneToOneField(Copilot, CASCADE, primary_key=True, related_name="publish_gate")
    min_percent = models.PositiveSmallIntegerField(
        _("required pass rate in percent"),
        validators=[MinValueValidator(1), MaxValueValidator(100)],
    )
    is_blocking = models.BooleanField(_("block publishing"), default=True)  # else a warning

    class Meta:
        verbose_name = _("publish gate")
        verbose_name_plural = _("publish gates")
