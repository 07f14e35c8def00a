"""What follows from a figure; pure."""

from datetime import timedelta
from decimal import Decimal

import pytest

from copilot_admin.alerts.judging import (
    AlertStep,
    FigureVerdict,
    RuleStanding,
    next_step,
    verdict_of,
)
from copilot_admin.alerts.kind import MeasuredFigure, all_kinds
from tests.alerts.alerting import HOUR, MINUTE, NOON

BAD, GOOD, UNDECIDED = FigureVerdict.BAD, FigureVerdict.GOOD, FigureVerdict.UNDECIDED
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("kind", "value", "basis", "verdict"),
    [
        ("thumbs_down", "3", 0, BAD),
        ("thumbs_down", "2.99", 0, GOOD),
        ("error_rate", "3", 5, BAD),
        ("error_rate", "3", 4, UNDECIDED),
        ("error_rate", "2", 4, GOOD),
        ("error_rate", None, 0, GOOD),
        ("silence", "3", 5, BAD),
        ("silence", "3.01", 5, GOOD),
        ("silence", "0", 4, UNDECIDED),
        ("budget", "3", 0, BAD),
    ],
)
def test_a_figure_is_bad_at_its_threshold_and_with_enough_below_it(kind, value, basis, verdict):
    measured = MeasuredFigure(value=value and Decimal(value), basis=basis, sentence="")
    found = verdict_of(all_kinds()[kind], measured, threshold=Decimal(3), minimum=5)
    assert found is verdict


@pytest.mark.parametrize(
    ("verdict", "standing", "step"),
    [
        (GOOD, RuleStanding(), AlertStep.NOTHING),
        (UNDECIDED, RuleStanding(), AlertStep.NOTHING),
        (BAD, RuleStanding(), AlertStep.OPEN),
        (BAD, RuleStanding(is_muted=True), AlertStep.OPEN),
        (BAD, RuleStanding(is_open=True), AlertStep.TELL),
        (BAD, RuleStanding(is_open=True, is_muted=True), AlertStep.NOTHING),
        (BAD, RuleStanding(is_open=True, told_at=NOON - DAY + MINUTE), AlertStep.NOTHING),
        (BAD, RuleStanding(is_open=True, told_at=NOON - DAY), AlertStep.REMIND),
        (BAD, RuleStanding(is_open=True, told_at=NOON - DAY, is_muted=True), AlertStep.NOTHING),
        # A clock that was set back.
        (BAD, RuleStanding(is_open=True, told_at=NOON + HOUR), AlertStep.NOTHING),
        (BAD, RuleStanding(is_open=True, told_at=NOON + DAY), AlertStep.REMIND),
        (
            BAD,
            RuleStanding(is_open=True, told_at=NOON, good_since=NOON - MINUTE),
            AlertStep.RELAPSE,
        ),
        (GOOD, RuleStanding(is_open=True, told_at=NOON), AlertStep.CALM),
        (GOOD, RuleStanding(is_open=True, good_since=NOON - 14 * MINUTE), AlertStep.NOTHING),
        (GOOD, RuleStanding(is_open=True, good_since=NOON - 15 * MINUTE), AlertStep.CLOSE),
        (GOOD, RuleStanding(is_open=True, good_since=NOON + HOUR), AlertStep.CLOSE),
        (UNDECIDED, RuleStanding(is_open=True, good_since=NOON - HOUR), AlertStep.NOTHING),
    ],
)
def test_what_follows(verdict, standing, step):
    assert next_step(verdict, standing, at=NOON) is step
