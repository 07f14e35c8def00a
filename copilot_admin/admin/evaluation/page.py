"""Values of the Test tab's templates: cells, answers side by side, the chart of pass rates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from pydantic import ValidationError

from copilot_admin.admin.analytics.charts import Chart, ChartKind, Series, draw_chart
from copilot_admin.copilots.assertions import Assertion
from copilot_admin.evaluation.differences import TextPart
from copilot_admin.evaluation.results import (
    RunSummary,
    TargetColumn,
    diff_to_previous,
    read_pass_rates,
)
from copilot_admin.models import (
    Copilot,
    EvaluationResult,
    PublishGate,
    ResultState,
    ResultVerdict,
    TargetKind,
    TestCase,
)
from copilot_admin.pricing.money import format_dollars
from copilot_admin.rendering.markdown import safe_html

STARTED_TOGETHER = timedelta(seconds=10)
_TONES = {  # class and icon
    ResultVerdict.PASSED: ("good", "ok"),
    ResultVerdict.FAILED: ("bad", "fail"),
    ResultVerdict.INCONCLUSIVE: ("warn", "help"),
    ResultVerdict.ERROR: ("bad", "alert"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The result of a test case on a target; without one, it wasn't run."""

    result: EvaluationResult | None = None
    is_outdated: bool = False

    @property
    def state(self) -> str:
        """Return a verdict, `running`, `waiting` or `missing`, for tests and styles."""
        if self.result is None:
            return "missing"
        return self.result.verdict or self.result.state

    @property
    def label(self) -> str:
        if self.result is None:
            return _("Not run")
        if self.result.state != ResultState.DONE:
            return self.result.get_state_display()
        return self.result.get_verdict_display()

    @property
    def tone(self) -> str:
        return _TONES[ResultVerdict(self.state)][0] if self._is_done else "muted"

    @property
    def icon(self) -> str:
        if self._is_done:
            return _TONES[ResultVerdict(self.state)][1]
        return "clock" if self.state in ResultState else "minus"

    @property
    def is_changed(self) -> bool:
        return self.result is not None and self.result.is_changed is True

    @property
    def _is_done(self) -> bool:
        return self.result is not None and self.result.state == ResultState.DONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A test case with its result on each target."""

    case: TestCase
    expected: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer as the user would see it, with reasons and differences."""

    name: str
    cell: Cell
    html: SafeString
    parts: tuple[TextPart, ...] = ()
    facts: str = ""


def build_rows(cases: Iterable[TestCase], columns: Sequence[TargetColumn]) -> list[Row]:
    """Return the rows of the matrix."""
    return [
        Row(
            case=case,
            expected=describe_assertions(case),
            cells=tuple(_cell(column, case.pk) for column in columns),
        )
        for case in cases
    ]


def describe_assertions(case: TestCase) -> str:
    """Return the assertions of a test case in words; also of one that isn't valid any more."""
    try:
        found = [Assertion.model_validate(row).summary for row in case.assertions]
    except ValidationError:
        return _("Not valid in this release")
    text = ", ".join(found)
    return text[:1].upper() + text[1:] if text else _("Any answer")


def read_answers(
    copilot: Copilot, case_id: int, columns: Sequence[TargetColumn]
) -> list[Answer] | None:
    """Return the answers to one test case, side by side; None if there is no such test case."""
    case = TestCase.objects.filter(copilot=copilot, pk=case_id).defer("test_data").first()
    if case is None:
        return None
    answers = []
    if case.recorded_answer:
        html = safe_html(case.recorded_answer)
        answers.append(Answer(name=_("Recorded answer"), cell=Cell(), html=html))
    for column in columns:
        cell = _cell(column, case.pk)
        if (result := cell.result) is None:
            continue
        answers.append(
            Answer(
                name=column.name,
                cell=cell,
                html=safe_html(result.answer),
                parts=diff_to_previous(result),
                facts=_describe(result),
            )
        )
    return answers


def build_chart(copilot: Copilot, gate: PublishGate | None) -> Chart | None:
    """Return the chart of pass rates over time; None before there are two runs to compare."""
    slots = _group_runs(read_pass_rates(copilot))
    if len(slots) < 2:
        return None
    series = []
    names = ((TargetKind.DRAFT, _("Draft"), "ca-s1"), (TargetKind.LIVE, _("Live"), "ca-s3"))
    for target, name, color in names:
        values: list[float | None] = []
        for slot in slots:  # between two runs of a target, the rate of the earlier one
            last = values[-1] if values else None
            values.append(slot[target].counts.percent if target in slot else last)
        series.append(Series(name, values, color))
    if gate is not None:
        series.append(Series(_("Needed to publish"), [gate.min_percent] * len(slots), "ca-s6"))
    times = [timezone.localtime(next(iter(slot.values())).run.created_at) for slot in slots]
    return draw_chart(
        ChartKind.LINE,
        [date_format(one, "j M Y H:i") for one in times],
        series,
        label=_("Pass rate of the draft and the live version, run by run"),
        column=_("Run"),
        format_value=lambda value: f"{value:.0f}%",
        short_slots=[date_format(one, "j M") for one in times],
        is_whole=True,
    )


def _group_runs(
    rates: dict[TargetKind, list[RunSummary]],
) -> list[dict[TargetKind, RunSummary]]:
    """Return the runs in order; those of draft and live that started together are one slot."""
    slots: list[dict[TargetKind, RunSummary]] = []
    started = [(one.run.created_at, target, one) for target, runs in rates.items() for one in runs]
    for at, target, one in sorted(started, key=lambda entry: entry[0]):
        last = slots[-1] if slots else {}
        times = [other.run.created_at for other in last.values()]
        if times and target not in last and at - times[0] < STARTED_TOGETHER:
            last[target] = one
        else:
            slots.append({target: one})
    return slots


def _cell(column: TargetColumn, case_id: int) -> Cell:
    return Cell(result=column.results.get(case_id), is_outdated=case_id in column.outdated)


def _describe(result: EvaluationResult) -> str:
    if result.state != ResultState.DONE:
        return ""
    cost = _("cost unknown") if result.cost is None else format_dollars(result.cost)
    return f"{result.ms / 1000:.1f} s · {cost}"
