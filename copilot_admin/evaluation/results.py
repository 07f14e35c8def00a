"""Results of evaluation runs: counts, columns of the matrix, pass rates, exports."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.copilots.checklist.findings import digest_of_draft
from copilot_admin.evaluation.differences import TextPart, compare_texts
from copilot_admin.evaluation.queue import find_previous_answer, target_key
from copilot_admin.models import (
    Copilot,
    EvaluationResult,
    EvaluationRun,
    ResultState,
    ResultVerdict,
    RunState,
    TargetKind,
)
from copilot_admin.pricing.cost import format_dollars

MAX_COLUMNS = 6  # targets next to each other
MAX_RUNS_READ = 200  # newest runs of a copilot, which are searched for columns
MAX_POINTS = 20  # runs of a target in the chart
DONE = Q(state=ResultState.DONE)


class Counts:
    """Counts of results; those that aren't done are pending in active runs."""

    def __init__(
        self, results: Iterable[EvaluationResult], *, total: int, outdated: int = 0
    ) -> None:
        results = list(results)
        done = [one for one in results if one.state == ResultState.DONE]
        verdicts = Counter(one.verdict for one in done)
        self.total, self.outdated = total, outdated
        self.passed = verdicts[ResultVerdict.PASSED]
        self.failed = verdicts[ResultVerdict.FAILED]
        self.inconclusive = verdicts[ResultVerdict.INCONCLUSIVE]
        self.errors = verdicts[ResultVerdict.ERROR]
        self.done, self.pending = len(done), len(results) - len(done)
        self.cost = sum((one.cost for one in done if one.cost is not None), Decimal(0))
        self.unpriced = sum(one.cost is None for one in done)
        self.ms = sum(one.ms for one in done)

    @property
    def percent(self) -> int:
        """Pass rate, rounded down."""
        return self.passed * 100 // self.total if self.total else 0

    @property
    def usage(self) -> str:
        """Time and known cost of all answers: 48 s · $0.07."""
        parts = [_("%d s") % round(self.ms / 1000)]
        if self.unpriced < self.done:
            parts.append(format_dollars(self.cost))
        if self.unpriced:
            unknown = ngettext("%d of unknown cost", "%d of unknown cost", self.unpriced)
            parts.append(unknown % self.unpriced)
        return " · ".join(parts)

    @property
    def problems(self) -> str:
        """Everything that didn't pass: 1 failed, 1 inconclusive."""
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
        """The counts as text: 10 of 12 passed, 1 failed, 1 inconclusive."""
        passed = _("%(passed)d of %(total)d passed") % {"passed": self.passed, "total": self.total}
        return f"{passed}, {self.problems}" if self.problems else passed


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetColumn:
    """The last result of each test case on one target."""

    run: EvaluationRun  # the last one
    results: Mapping[int, EvaluationResult]  # by test case, without answers
    outdated: frozenset[int]  # test cases that changed, or whose target changed, after the result
    counts: Counts


def read_columns(copilot: Copilot, target: TargetKind | None = None) -> list[TargetColumn]:
    """Return the targets that were evaluated: draft, live, then the others, the newest first."""
    runs = EvaluationRun.objects.filter(copilot=copilot).order_by("-pk")
    if target is not None:
        runs = runs.filter(target=target)
    found: dict[tuple[Any, ...], list[EvaluationRun]] = {}
    for run in runs.defer("document").select_related("started_by")[:MAX_RUNS_READ]:
        found.setdefault(tuple(target_key(run).values()), []).append(run)
    first = {TargetKind.DRAFT: 0, TargetKind.LIVE: 1}
    order = sorted(found.values(), key=lambda some: first.get(TargetKind(some[0].target), 2))
    total, digest = copilot.test_cases.count(), digest_of_draft(copilot)
    return [_read_column(copilot, some, digest, total) for some in order[:MAX_COLUMNS]]


def read_column(copilot: Copilot, target: TargetKind) -> TargetColumn | None:
    """Return the column of the draft or the live version; None if it was never evaluated."""
    return next(iter(read_columns(copilot, target)), None)


def _read_column(
    copilot: Copilot, runs: Sequence[EvaluationRun], digest: str, total: int
) -> TargetColumn:
    active = [run.pk for run in runs if run.is_active]
    # Unfinished test cases of a cancelled run don't hide an earlier result.
    shown = EvaluationResult.objects.filter(DONE | Q(run__in=active), run__in=runs)
    newest = shown.order_by().values("case").annotate(last=Max("pk")).values("last")
    rows = EvaluationResult.objects.filter(pk__in=newest).select_related("case")
    rows = rows.defer("answer", "case__test_data", "case__recorded_answer")
    results = {row.case_id: row for row in rows}
    current = {run.pk for run in runs if _is_current(run, copilot, digest)}
    outdated = frozenset(
        pk
        for pk, row in results.items()
        if row.finished_at is not None
        and (row.run_id not in current or row.finished_at < row.case.updated_at)
    )
    counts = Counts(results.values(), total=total, outdated=len(outdated))
    return TargetColumn(run=runs[0], results=results, outdated=outdated, counts=counts)


def _is_current(run: EvaluationRun, copilot: Copilot, digest: str) -> bool:
    if run.target == TargetKind.LIVE:
        return run.version_number == (copilot.live.number if copilot.live else 0)
    return run.target == TargetKind.VERSION or run.digest == digest


def read_pass_rates(copilot: Copilot) -> list[tuple[EvaluationRun, int]]:
    """Return finished full runs of draft and live version with their pass rates, oldest first."""
    runs = EvaluationRun.objects.filter(copilot=copilot, is_partial=False, state=RunState.DONE)
    newest: list[int] = []
    for target in (TargetKind.DRAFT, TargetKind.LIVE):
        of_target = runs.filter(target=target).order_by("-pk")
        newest += of_target.values_list("pk", flat=True)[:MAX_POINTS]
    counted = runs.filter(pk__in=newest).defer("document").order_by("created_at")
    rows: Iterable[Any] = counted.annotate(
        total=Count("results"),
        passed=Count("results", filter=Q(results__verdict=ResultVerdict.PASSED)),
    )
    return [(row, row.passed * 100 // row.total if row.total else 0) for row in rows]


def needs_attention(column: TargetColumn, case_id: int) -> bool:
    """Return whether a test case didn't pass on a target, or its answer changed."""
    result = column.results.get(case_id)
    if result is None or result.state != ResultState.DONE:
        return False
    return result.verdict != ResultVerdict.PASSED or result.is_changed is True


def diff_to_previous(result: EvaluationResult) -> tuple[TextPart, ...]:
    if not result.is_changed:
        return ()
    return compare_texts(find_previous_answer(result.run, result.case) or "", result.answer)


def export_rows(columns: Sequence[TargetColumn]) -> list[dict[str, Any]]:
    shown = {row.pk: column.run for column in columns for row in column.results.values()}
    rows = EvaluationResult.objects.filter(DONE, pk__in=shown).select_related("case", "run")
    return [
        {
            "question": row.case.question,
            "target": shown[row.pk].target_name,
            "model": row.run.model,
            "verdict": row.verdict,
            "reasons": "; ".join(f"{one['assertion']}: {one['reason']}" for one in row.outcomes)
            or row.error,
            "answer": row.answer,
            "seconds": row.ms / 1000,
            "input_tokens": row.input_tokens,
            "output_tokens": row.output_tokens,
            "cost_usd": None if row.cost is None else f"{row.cost:f}",
            "finished_at": row.finished_at.isoformat() if row.finished_at else None,
        }
        for row in rows.order_by("case__position", "case", "run")
    ]
