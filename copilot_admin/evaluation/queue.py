"""Evaluation runs in the database: start, claim, store, release, cancel.

The rows are the work queue, so that a run continues after a restart.
"""

from collections.abc import Collection, Sequence
from typing import Any

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.copilots.test_cases import MAX_TEST_CASES
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.assertions import CaseAnswer
from copilot_admin.models import (
    CostConfidence,
    EvaluationResult,
    EvaluationRun,
    ResultState,
    ResultVerdict,
    RunState,
    TargetKind,
    TestCase,
)
from copilot_admin.transcripts.store.transcript_store import is_missed

MAX_CONCURRENT = 3  # answers of a copilot; its provider also serves users


def save_runs(runs: Sequence[EvaluationRun], cases: QuerySet[TestCase]) -> None:
    """Save runs with one waiting result for each test case, of which there must be one."""
    ids = list(cases.order_by("position", "id").values_list("pk", flat=True)[:MAX_TEST_CASES])
    if not ids:
        raise ConfigurationError(_("There are no test cases to run. Add one first."))
    with transaction.atomic():
        for run in runs:
            run.is_partial = TestCase.objects.filter(copilot=run.copilot_id).count() > len(ids)
            run.heartbeat_at = timezone.now()
            run.save()
            EvaluationResult.objects.bulk_create(
                EvaluationResult(run=run, case_id=pk) for pk in ids
            )


def claim_next(copilot_id: int) -> EvaluationResult | None:
    """Claim the next waiting test case for one caller; None if none waits or too many are running."""
    now = timezone.now()
    results = EvaluationResult.objects.filter(run__copilot=copilot_id)
    lost = results.filter(is_missed("heartbeat_at", now), state=ResultState.RUNNING)
    lost.update(state=ResultState.WAITING)
    if results.filter(state=ResultState.RUNNING).count() >= MAX_CONCURRENT:
        return None
    runs = EvaluationRun.objects.filter(
        copilot=copilot_id, state__in=EvaluationRun.ACTIVE, copilot__deletion_requested_at=None
    )
    related = runs.select_related("copilot__provider", "provider", "judge_provider", "started_by")
    for run in related.order_by("pk"):
        waiting = EvaluationResult.objects.filter(run=run, state=ResultState.WAITING)
        while (row := waiting.select_related("case").order_by("pk").first()) is not None:
            cost = EvaluationResult.objects.filter(run=run).aggregate(known=Sum("cost"))["known"]
            if run.cost_limit is not None and (cost or 0) >= run.cost_limit:
                runs.filter(pk=run.pk).update(state=RunState.COST_LIMIT, finished_at=now)
                break
            if waiting.filter(pk=row.pk).update(state=ResultState.RUNNING, heartbeat_at=now):
                runs.filter(pk=run.pk).update(state=RunState.RUNNING, heartbeat_at=now)
                row.run = run
                return row
        else:
            finish_run(run.pk)
    return None


def store_result(claim: EvaluationResult, answer: CaseAnswer) -> bool:
    previous = find_previous_answer(claim.run, claim.case)
    rows = EvaluationResult.objects.filter(pk=claim.pk, state=ResultState.RUNNING)
    stored = rows.update(
        state=ResultState.DONE,
        heartbeat_at=None,
        verdict=answer.verdict,
        outcomes=list(answer.outcomes),
        error=answer.error,
        answer=answer.text,
        is_changed=None if previous is None or answer.error else previous != answer.text,
        trace_id=answer.trace_id,
        ttft_ms=answer.ttft_ms,
        ms=answer.ms,
        input_tokens=answer.input_tokens,
        output_tokens=answer.output_tokens,
        cost=answer.cost.amount,
        cost_is_estimated=answer.cost.confidence == CostConfidence.ESTIMATED,
        finished_at=timezone.now(),
    )
    finish_run(claim.run.pk)
    return bool(stored)


def target_key(run: EvaluationRun) -> dict[str, Any]:
    """Return the values that identify a target of a copilot; all live versions are one target."""
    match run.target:
        case TargetKind.VERSION:
            return {"target": run.target, "version_number": run.version_number}
        case TargetKind.MODEL:
            return {"target": run.target, "provider": run.provider_id, "model": run.model}
    return {"target": run.target}


def find_previous_answer(run: EvaluationRun, case: TestCase) -> str | None:
    """Return the answer of the run before on the same target, else the recorded answer."""
    before = EvaluationRun.objects.filter(copilot=run.copilot_id, pk__lt=run.pk, **target_key(run))
    rows = case.results.filter(run__in=before, state=ResultState.DONE)
    answers = rows.exclude(verdict=ResultVerdict.ERROR).order_by("-run_id")
    previous = answers.values_list("answer", flat=True).first()
    return (case.recorded_answer or None) if previous is None else previous


def release(result_id: int) -> None:
    """Return a claimed test case to the queue."""
    rows = EvaluationResult.objects.filter(pk=result_id, state=ResultState.RUNNING)
    rows.update(state=ResultState.WAITING, heartbeat_at=None)


def send_heartbeat(copilot_id: int, result_ids: Collection[int]) -> frozenset[int]:
    """Mark runs and claimed test cases as alive; return those that are still wanted."""
    now = timezone.now()
    EvaluationRun.objects.filter(copilot=copilot_id, state__in=EvaluationRun.ACTIVE).update(
        heartbeat_at=now
    )
    wanted = EvaluationResult.objects.filter(pk__in=result_ids, state=ResultState.RUNNING)
    wanted.update(heartbeat_at=now)
    return frozenset(wanted.values_list("pk", flat=True))


def cancel_runs(runs: QuerySet[EvaluationRun]) -> int:
    """Cancel the active ones among some runs; return their number. Results are retained."""
    with transaction.atomic():
        active = runs.filter(state__in=EvaluationRun.ACTIVE).select_for_update(of=("self",))
        ids = list(active.values_list("pk", flat=True))
        EvaluationRun.objects.filter(pk__in=ids).update(
            state=RunState.CANCELLED, finished_at=timezone.now()
        )
        running = EvaluationResult.objects.filter(run__in=ids, state=ResultState.RUNNING)
        running.update(state=ResultState.WAITING, heartbeat_at=None)
    return len(ids)


def claim_stalled() -> list[int]:
    """Return copilots whose runs have lost their worker; each is returned to one caller only."""
    now = timezone.now()
    stalled = EvaluationRun.objects.filter(
        is_missed("heartbeat_at", now), state__in=EvaluationRun.ACTIVE
    )
    copilots = list(stalled.order_by().values_list("copilot", flat=True).distinct())
    return [pk for pk in copilots if stalled.filter(copilot=pk).update(heartbeat_at=now)]


def finish_run(run_id: int) -> None:
    if not EvaluationResult.objects.filter(run=run_id).exclude(state=ResultState.DONE).exists():
        rows = EvaluationRun.objects.filter(
            pk=run_id, state__in=(*EvaluationRun.ACTIVE, RunState.COST_LIMIT)
        )
        rows.update(state=RunState.DONE, finished_at=timezone.now())
