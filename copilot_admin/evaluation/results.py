"""Results of evaluation runs: counts, columns of the matrix, pass rates, exports."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.copilots.publish_gate import digest_of_draft
from copilot_admin.evaluation.differences import TextPart, differences, shortened
from copilot_admin.evaluation.queue import find_previous_answer
from copilot_admin.models import (
    Copilot,
    EvaluationResult,
    EvaluationRun,
    ResultState,
    ResultVerdict,
    RunState,
    TargetKind,
)
from copilot_admin.pricing.money import format_dollars

MAX_COLUMNS = 6  # targets next to each other
MAX_RUNS_READ = 200  # newest runs of a copilot, which are searched for columns
MAX_POINTS = 20  # runs of a target in the chart
DONE = Q(state=ResultState.DONE)

TargetKey: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers of test cases by verdict, and the cost of their answers."""

    total: int = 0
    passed: int = 0
    failed: int = 0
    inconclusive: int = 0
    errors: int = 0
    pending: int = 0  # waiting or running in an active run
    changed: int = 0
    outdated: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0  # answers of unknown cost
    ms: int = 0

    @property
    def done(self) -> int:
        """Return the number of verdicts."""
        return self.passed + self.failed + self.inconclusive + self.errors

    @property
    def percent(self) -> int:
        """Return the pass rate in percent, rounded down."""
        return self.passed * 100 // self.total if self.total else 0

    @property
    def usage(self) -> str:
        """Return time and known cost of all answers: 48 s · $0.07."""
        parts = [_("%d s") % round(self.ms / 1000)]
        if self.unpriced < self.done:
            parts.append(format_dollars(self.cost))
        if self.unpriced:
            unknown = ngettext("%d of unknown cost", "%d of unknown cost", self.unpriced)
            parts.append(unknown % self.unpriced)
        return " · ".join(parts)

    @property
    def problems(self) -> str:
        """Return the counts of everything that didn't pass as text: 1 failed, 1 inconclusive."""
        missing = self.total - self.done - self.pending
        parts = (
            (self.failed, _("%d failed") % self.failed),
            (self.inconclusive, _("%d inconclusive") % self.inconclusive),
            (self.errors, ngettext("%d error", "%d errors", self.errors) % self.errors),
            (self.pending, _("%d running") % self.pending),
            (missing, _("%d not run") % missing),
        )
        return ", ".join(text for count, text in parts if count)

    @property
    def sentence(self) -> str:
        """Return the counts as text: 10 of 12 passed, 1 failed, 1 inconclusive."""
        passed = _("%(passed)d of %(total)d passed") % {"passed": self.passed, "total": self.total}
        return f"{passed}, {self.problems}" if self.problems else passed


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """A run with its counts."""

    run: EvaluationRun
    counts: Counts

    @property
    def name(self) -> str:
        return name_target(self.run)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetColumn:
    """The last result of each test case on one target.

    Attributes:
        run: The last run on the target.
        results: By test case, without answers.
        outdated: Test cases whose result is older than the draft, live version or test case.
    """

    run: EvaluationRun
    results: Mapping[int, EvaluationResult]
    outdated: frozenset[int]
    counts: Counts

    @property
    def name(self) -> str:
        return name_target(self.run)


def name_target(run: EvaluationRun) -> str:
    """Return the name of a run's target."""
    match run.target:
        case TargetKind.LIVE:
            return _("Live v%(number)d") % {"number": run.version_number}
        case TargetKind.VERSION:
            return _("Version %(number)d") % {"number": run.version_number}
        case TargetKind.MODEL:
            return run.model
        case _draft:
            return _("Draft")


def summarize_runs(runs: QuerySet[EvaluationRun]) -> list[RunSummary]:
    """Count the results of some runs, in one query."""
    counts: dict[str, Any] = {
        "n_total": Count("results"),
        "n_changed": Count("results", filter=Q(results__is_changed=True)),
        "n_unpriced": Count(
            "results", filter=Q(results__state=ResultState.DONE, results__cost=None)
        ),
        "cost": Sum("results__cost"),
        "ms": Sum("results__ms"),
    }
    for verdict in ResultVerdict:
        counts[f"n_{verdict}"] = Count("results", filter=Q(results__verdict=verdict))
    rows: Iterable[Any] = (
        runs.defer("document").select_related("started_by", "copilot").annotate(**counts)
    )
    return [_summarize(row) for row in rows]


def _summarize(row: Any) -> RunSummary:
    done = row.n_passed + row.n_failed + row.n_inconclusive + row.n_error
    counts = Counts(
        total=row.n_total,
        passed=row.n_passed,
        failed=row.n_failed,
        inconclusive=row.n_inconclusive,
        errors=row.n_error,
        pending=row.n_total - done if row.is_active else 0,
        changed=row.n_changed,
        cost=row.cost or Decimal(0),
        unpriced=row.n_unpriced,
        ms=row.ms or 0,
    )
    return RunSummary(run=row, counts=counts)


def read_columns(copilot: Copilot) -> list[TargetColumn]:
    """Return the targets that were evaluated: draft, live, then the others, the newest first."""
    runs = EvaluationRun.objects.filter(copilot=copilot).order_by("-pk")
    found: dict[TargetKey, list[EvaluationRun]] = {}
    for run in runs.defer("document").select_related("started_by")[:MAX_RUNS_READ]:
        found.setdefault(_get_key(run), []).append(run)
    first = [key for key in ((TargetKind.DRAFT,), (TargetKind.LIVE,)) if key in found]
    order = [*first, *(key for key in found if key not in first)][:MAX_COLUMNS]
    total = copilot.test_cases.count()
    is_current = _get_freshness(copilot)
    return [_read_column(found[key], is_current, total=total) for key in order]


def read_column(copilot: Copilot, target: TargetKind) -> TargetColumn | None:
    """Return the column of the draft or the live version; None if it was never evaluated."""
    runs = EvaluationRun.objects.filter(copilot=copilot, target=target).order_by("-pk")
    found = list(runs.defer("document").select_related("started_by")[:MAX_RUNS_READ])
    total = copilot.test_cases.count()
    return _read_column(found, _get_freshness(copilot), total=total) if found else None


def _get_key(run: EvaluationRun) -> TargetKey:
    match run.target:
        case TargetKind.VERSION:
            return (run.target, run.version_number)
        case TargetKind.MODEL:
            return (run.target, run.provider_id, run.model)
        case _draft_or_live:
            return (TargetKind(run.target),)


def _get_freshness(copilot: Copilot) -> Callable[[EvaluationRun], bool]:
    digest = digest_of_draft(copilot)
    live = copilot.live.number if copilot.live else 0

    def is_current(run: EvaluationRun) -> bool:
        match run.target:
            case TargetKind.LIVE:
                return run.version_number == live
            case TargetKind.VERSION:
                return True
            case _draft:
                return run.digest == digest

    return is_current


def _read_column(
    runs: Sequence[EvaluationRun], is_current: Callable[[EvaluationRun], bool], *, total: int
) -> TargetColumn:
    active = [run.pk for run in runs if run.is_active]
    # Unfinished test cases of a cancelled run don't hide an earlier result.
    shown = EvaluationResult.objects.filter(DONE | Q(run__in=active), run__in=runs)
    newest = shown.order_by().values("case").annotate(last=Max("pk")).values("last")
    rows = EvaluationResult.objects.filter(pk__in=newest).select_related("case")
    rows = rows.defer("answer", "case__test_data", "case__recorded_answer")
    results = {row.case_id: row for row in rows}
    current = {run.pk for run in runs if is_current(run)}
    outdated = frozenset(
        pk
        for pk, row in results.items()
        if row.finished_at is not None
        and (row.run_id not in current or row.finished_at < row.case.updated_at)
    )
    return TargetColumn(
        run=runs[0],
        results=results,
        outdated=outdated,
        counts=_count(results.values(), total=total, outdated=len(outdated)),
    )


def _count(results: Iterable[EvaluationResult], *, total: int, outdated: int) -> Counts:
    results = list(results)
    done = [one for one in results if one.state == ResultState.DONE]
    verdicts = Counter(one.verdict for one in done)
    return Counts(
        total=total,
        passed=verdicts[ResultVerdict.PASSED],
        failed=verdicts[ResultVerdict.FAILED],
        inconclusive=verdicts[ResultVerdict.INCONCLUSIVE],
        errors=verdicts[ResultVerdict.ERROR],
        pending=len(results) - len(done),
        changed=sum(one.is_changed is True for one in done),
        outdated=outdated,
        cost=sum((one.cost for one in done if one.cost is not None), Decimal(0)),
        unpriced=sum(one.cost is None for one in done),
        ms=sum(one.ms for one in done),
    )


def read_pass_rates(copilot: Copilot) -> dict[TargetKind, list[RunSummary]]:
    """Return the finished runs of all test cases on draft and live version, the oldest first."""
    rates = {}
    for target in (TargetKind.DRAFT, TargetKind.LIVE):
        runs = EvaluationRun.objects.filter(
            copilot=copilot, target=target, is_partial=False, state=RunState.DONE
        )
        newest = list(runs.order_by("-pk").values_list("pk", flat=True)[:MAX_POINTS])
        rates[target] = summarize_runs(EvaluationRun.objects.filter(pk__in=newest).order_by("pk"))
    return rates


def needs_attention(column: TargetColumn, case_id: int) -> bool:
    """Return whether a test case didn't pass on a target, or its answer changed."""
    result = column.results.get(case_id)
    if result is None or result.state != ResultState.DONE:
        return False
    return result.verdict != ResultVerdict.PASSED or result.is_changed is True


def diff_to_previous(result: EvaluationResult) -> tuple[TextPart, ...]:
    """Return the differences to the previous answer; empty without a different one."""
    if not result.is_changed:
        return ()
    previous = find_previous_answer(result.run, result.case)
    return shortened(differences(previous or "", result.answer))


def export_rows(columns: Sequence[TargetColumn]) -> list[dict[str, Any]]:
    """Return the results of some targets as flat rows, for CSV and JSON."""
    shown = {row.pk: column for column in columns for row in column.results.values()}
    rows = EvaluationResult.objects.filter(DONE, pk__in=shown).select_related("case", "run")
    return [
        _export(row, shown[row.pk].name) for row in rows.order_by("case__position", "case", "run")
    ]


def _export(row: EvaluationResult, target: str) -> dict[str, Any]:
    reasons = [f"{one['assertion']}: {one['reason']}" for one in row.outcomes]
    return {
        "question": row.case.question,
        "target": target,
        "model": row.run.model,
        "verdict": row.verdict,
        "reasons": "; ".join(reasons) or row.error,
        "answer": row.answer,
        "seconds": row.ms / 1000,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cost_usd": None if row.cost is None else f"{row.cost:f}",
        "finished_at": row.finished_at.isoformat() if row.finished_at else None,
    }
