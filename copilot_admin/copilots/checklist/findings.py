"""Findings of the checks, and the draft with its surroundings and tests that they read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
import hashlib
import json
from typing import Any, ClassVar

from django.db.models import F, Max
from django.utils.translation import gettext as _

from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.copilots.comparison import label_of
from copilot_admin.copilots.config import CONFIG_FIELDS, FIELDS_BY_KEY, VERSIONED_FIELDS
from copilot_admin.models import (
    Access,
    Copilot,
    EvaluationResult,
    PublishGate,
    ResultState,
    ResultVerdict,
    TargetKind,
    TestCase,
)

FAILED_TESTS = "failed_tests"
SETTINGS_PREFIX = "now"  # of the inputs on the Settings tab
_ORDER = {field.key: place for place, field in enumerate(CONFIG_FIELDS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Problem of a draft that a builder should know before publishing; an error stops it."""

    code: str
    field: str  # its key in a copilot file
    sentence: str  # the problem, and what to do
    is_error: bool = False
    at: str = ""  # the input of the form, where it isn't the last one of the field
    # A command publishes anyway: the cause is in the environment of this process, or in files that
    # earlier releases accepted.
    only_for_people: bool = False

    @property
    def input(self) -> str:
        return self.at or FIELDS_BY_KEY[self.field].input

    @property
    def page(self) -> str:
        """End of the URL name of the page with the input."""
        if self.code == FAILED_TESTS:
            return "tests"
        return "change" if FIELDS_BY_KEY[self.field].is_versioned else "settings"

    @property
    def anchor(self) -> str:
        ids = {"tests": "tests", "settings": f"id_{SETTINGS_PREFIX}-{self.input}"}
        return ids.get(self.page, f"id_{self.input}")

    @property
    def label(self) -> str:
        return _("Test") if self.code == FAILED_TESTS else label_of(self.field)


class Findings(tuple[Finding, ...]):
    """Findings, errors first, in the order of the form."""

    @property
    def errors(self) -> tuple[Finding, ...]:
        return tuple(one for one in self if one.is_error)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(one for one in self if not one.is_error)


def rank(finding: Finding) -> tuple[bool, int]:
    return not finding.is_error, _ORDER[finding.field]


def error(code: str, field: str, sentence: str, **options: Any) -> Finding:
    return Finding(code=code, field=field, sentence=sentence, is_error=True, **options)


def warning(code: str, field: str, sentence: str, *, at: str = "") -> Finding:
    return Finding(code=code, field=field, sentence=sentence, at=at)


@dataclass(frozen=True, slots=True, kw_only=True)
class TestFacts:
    """The requirement of a copilot, and how many of its test cases the draft passes as it is."""

    __test__: ClassVar = False  # for pytest, which collects classes named Test*

    min_percent: int
    is_blocking: bool
    passed: int
    total: int

    @property
    def is_reached(self) -> bool:
        return self.passed * 100 >= self.min_percent * self.total > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftFacts:
    """Facts about the surroundings of a draft, known without a network request."""

    enabled: bool = True
    access: Access = Access.OPEN
    keys: int = 0  # valid API keys
    # Models that each provider last listed; providers never asked are absent.
    models: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unasked: tuple[str, ...] = ()  # names of its providers that are absent from `models`
    missing_providers: frozenset[str] = frozenset()  # named in its options and fallbacks
    has_image: bool = True  # this server has the file of its image
    tests: TestFacts | None = None  # if a pass rate is required


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedDraft:
    """The document of a draft, and the facts; the spec lacks what no answer depends on."""

    spec: CopilotSpec
    image: str = ""
    starters: tuple[str, ...] = ()
    facts: DraftFacts = DraftFacts()


def read_test_facts(copilots: Sequence[Copilot]) -> Mapping[int, TestFacts]:
    gates = PublishGate.objects.in_bulk([one.pk for one in copilots])
    return {one.pk: _read(one, gates[one.pk]) for one in copilots if one.pk in gates}


def digest_of_draft(copilot: Copilot) -> str:
    """Return a hash that changes whenever the draft would answer differently."""
    document = {field.key: field.value_of(copilot) for field in VERSIONED_FIELDS}
    whole = json.dumps([document, copilot.provider_id], sort_keys=True, default=str)
    return hashlib.sha256(whole.encode()).hexdigest()


def _read(copilot: Copilot, gate: PublishGate) -> TestFacts:
    results = EvaluationResult.objects.filter(
        run__copilot=copilot.pk,
        run__target=TargetKind.DRAFT,
        run__digest=digest_of_draft(copilot),
        state=ResultState.DONE,
        finished_at__gte=F("case__updated_at"),
    )
    newest = results.order_by().values("case").annotate(last=Max("pk")).values("last")
    passed = EvaluationResult.objects.filter(pk__in=newest, verdict=ResultVerdict.PASSED)
    return TestFacts(
        min_percent=gate.min_percent,
        is_blocking=gate.is_blocking,
        passed=passed.count(),
        total=TestCase.objects.filter(copilot=copilot.pk).count(),
    )
