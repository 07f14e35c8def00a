"""Helpers for tests of evaluations: a widget, a scripted model, runs in this thread."""

from typing import Any

import pytest

from copilot_admin.evaluation.queue import save_runs
from copilot_admin.evaluation.targets import make_run
from copilot_admin.evaluation.worker import run_here
from copilot_admin.models import Copilot, EvaluationResult, EvaluationRun, TargetKind, TestCase
from tests.agent.scripted import ScriptedProvider

PRICES: dict[str, Any] = {"id": "prices", "name": "Prices", "rows": [{"day": "Mo", "close": 106}]}
MAKE_PROVIDER = "copilot_admin.copilots.live.make_provider"


def script(monkeypatch: pytest.MonkeyPatch, *steps: Any) -> ScriptedProvider:
    """Replace the provider of every copilot."""
    provider = ScriptedProvider(steps)
    monkeypatch.setattr(MAKE_PROVIDER, lambda spec: provider)
    return provider


def queue_run(
    copilot: Copilot, target: TargetKind = TargetKind.DRAFT, **wanted: Any
) -> EvaluationRun:
    """Save a run of all test cases, without running it."""
    cost_limit = wanted.pop("cost_limit", None)
    copilot = Copilot.objects.select_related("provider", "live").get(pk=copilot.pk)
    run = make_run(copilot, target, **wanted)
    run.cost_limit = cost_limit
    save_runs([run], TestCase.objects.filter(copilot=copilot))
    return run


def evaluate(
    case: TestCase, target: TargetKind = TargetKind.DRAFT, **wanted: Any
) -> EvaluationResult:
    """Run all test cases of a copilot in this thread; return the result of one."""
    run = queue_run(case.copilot, target, **wanted)
    run_here(case.copilot_id)
    return EvaluationResult.objects.get(run=run, case=case)
