"""Share of test cases that a draft has to pass before it is published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
import hashlib
import json
from typing import ClassVar

from django.db.models import F, Max

from copilot_admin.copilots.config import VERSIONED_FIELDS
from copilot_admin.models import (
    Copilot,
    EvaluationResult,
    PublishGate,
    ResultState,
    ResultVerdict,
    TargetKind,
    TestCase,
)


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


def read_test_facts(copilots: Sequence[Copilot]) -> Mapping[int, TestFacts]:
    """Return the facts of the copilots with a requirement, by id."""
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
