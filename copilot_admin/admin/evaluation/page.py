"""Values of the Test tab's templates: rows, answers side by side, the chart of pass rates."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from pydantic import ValidationError

from copilot_admin.admin.analytics.charts import Chart, ChartKind, Series, draw_chart
from copilot_admin.copilots.test_cases import Assertion
from copilot_admin.evaluation.results import TargetColumn, diff_to_previous, read_pass_rates
from copilot_admin.models import (
    Copilot,
    EvaluationResult,
    EvaluationRun,
    PublishGate,
    ResultState,
    ResultVerdict,
    TargetKind,
    TestCase,
)
from copilot_admin.pricing.cost import format_dollars
from copilot_admin.rendering.markdown import safe_html

STARTED_TOGETHER = timedelta(seconds=10)
_LOOKS: dict[str, tuple[str, str]] = {  # class and icon
    ResultVerdict.PASSED: ("good", "ok"),
    ResultVerdict.FAILED: ("bad", "fail"),
    ResultVerdict.INCONCLUSIVE: ("warn", "help"),
    ResultVerdict.ERROR: ("bad", "alert"),
}


def build_rows(cases: Iterable[TestCase], columns: Sequence[TargetColumn]) -> list[dict[str, Any]]:
    return [
        {
            "case": case,
            "expected": _describe_assertions(case),
            "cells": [_cell(column.results.get(case.pk), column) for column in columns],
        }
        for case in cases
    ]


def _cell(result: EvaluationResult | None, column: TargetColumn | None = None) -> dict[str, Any]:
    """Return a result with its look; `state` is a verdict, waiting, running or missing."""
    if result is None:
        return {"state": "missing", "label": _("Not run"), "tone": "muted", "icon": "minus"}
    is_done = result.state == ResultState.DONE
    state = result.verdict if is_done else result.state
    tone, icon = _LOOKS.get(state, ("muted", "clock"))
    return {
        "result": result,
        "state": state,
        "label": result.get_verdict_display() if is_done else result.get_state_display(),
        "tone": tone,
        "icon": icon,
        "is_outdated": column is not None and result.case_id in column.outdated,
    }


def _describe_assertions(case: TestCase) -> str:
    try:
        found = [Assertion.model_validate(row).summary for row in case.assertions]
    except ValidationError:
        return _("Not valid in this release")
    text = ", ".join(found)
    return text[:1].upper() + text[1:] if text else _("Any answer")


def read_answers(
    copilot: Copilot, case_id: int, columns: Sequence[TargetColumn]
) -> list[dict[str, Any]] | None:
    """Return the answers to one test case, side by side; None if there is no such test case."""
    case = TestCase.objects.filter(copilot=copilot, pk=case_id).defer("test_data").first()
    if case is None:
        return None
    answers: list[dict[str, Any]] = []
    if case.recorded_answer:
        html = safe_html(case.recorded_answer)
        answers.append({"name": _("Recorded answer"), "cell": _cell(None), "html": html})
    for column in columns:
        if (result := column.results.get(case.pk)) is None:
            continue
        cost = _("cost unknown") if result.cost is None else format_dollars(result.cost)
        is_done = result.state == ResultState.DONE
        answers.append(
            {
                "name": column.run.target_name,
                "cell": _cell(result),
                "html": safe_html(result.answer),
                "parts": diff_to_previous(result),
                "facts": f"{result.ms / 1000:.1f} s · {cost}" if is_done else "",
            }
        )
    return answers


def build_chart(copilot: Copilot, gate: PublishGate | None) -> Chart | None:
    slots = _group_runs(read_pass_rates(copilot))
    if len(slots) < 2:
        return None
    series = []
    names = ((TargetKind.DRAFT, _("Draft"), "ca-s1"), (TargetKind.LIVE, _("Live"), "ca-s3"))
    for target, name, color in names:
        values: list[float | None] = []
        for slot in slots:  # between two runs of a target, the rate of the earlier one
            values.append(slot[target][1] if target in slot else values[-1] if values else None)
        series.append(Series(name, values, color))
    if gate is not None:
        series.append(Series(_("Needed to publish"), [gate.min_percent] * len(slots), "ca-s6"))
    times = [timezone.localtime(next(iter(slot.values()))[0].created_at) for slot in slots]
    return draw_chart(
        ChartKind.LINE,
        [date_format(one, "j M Y H:i") for one in times],
        series,
        label=_("Pass rate of the draft and the live version, run by run"),
        column=_("Run"),
        format_value=lambda value: f"{value:.0f}%",
        format_axis=lambda value, _top: f"{value:.0f}%" if value <= 100 else "",
        short_slots=[date_format(one, "j M") for one in times],
        is_whole=True,
    )


def _group_runs(
    rates: Iterable[tuple[EvaluationRun, int]],
) -> list[dict[str, tuple[EvaluationRun, int]]]:
    """Return the runs by target; those of draft and live that started together are one slot."""
    slots: list[dict[str, tuple[EvaluationRun, int]]] = []
    for run, percent in rates:
        last = slots[-1] if slots else {}
        times = [other.created_at for other, _percent in last.values()]
        if times and run.target not in last and run.created_at - times[0] < STARTED_TOGETHER:
            last[run.target] = (run, percent)
        else:
            slots.append({run.target: (run, percent)})
    return slots
