"""What is to be done about a rule. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from copilot_admin.alerts.kind import MeasuredFigure, RuleKind

REMINDED_AFTER = timedelta(days=1)
# A figure that goes up and down about its threshold would open and close an alert every minute.
GOOD_FOR = timedelta(minutes=15)


class FigureVerdict(StrEnum):
    """What a figure says of its rule."""

    BAD = "bad"
    GOOD = "good"
    UNDECIDED = "undecided"  # too little was asked to say that it is bad


class AlertStep(StrEnum):
    """What is to be done about the alert of a rule."""

    NOTHING = "nothing"
    OPEN = "open"
    TELL = "tell"  # of one that was opened while nobody was to be told
    REMIND = "remind"
    CALM = "calm"  # good for the first time
    RELAPSE = "relapse"  # bad again before it closed
    CLOSE = "close"


def verdict_of(
    kind: RuleKind, measured: MeasuredFigure, *, threshold: Decimal, minimum: int
) -> FigureVerdict:
    """Whether a figure is bad; nothing to measure is good."""
    if measured.value is None or not kind.is_bad(measured.value, threshold):
        return FigureVerdict.GOOD
    is_enough = not kind.minimum_label or measured.basis >= minimum
    return FigureVerdict.BAD if is_enough else FigureVerdict.UNDECIDED


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleStanding:
    """How it stands with a rule.

    Attributes:
        is_open: There is an alert of it.
        told_at: When somebody was last told of that.
        good_since: Since when its figure is good.
        is_muted: Nobody is to be told for now.
    """

    is_open: bool = False
    told_at: datetime | None = None
    good_since: datetime | None = None
    is_muted: bool = False


def next_step(verdict: FigureVerdict, standing: RuleStanding, *, at: datetime) -> AlertStep:
    """What follows of a verdict now; one that is undecided neither opens nor closes.

    Args:
        verdict: What the figure says.
        standing: How it stands with the rule.
        at: Now; a clock that was set back by days is no reason to be silent for as long.
    """
    if verdict is FigureVerdict.UNDECIDED:
        return AlertStep.NOTHING
    if not standing.is_open:
        return AlertStep.OPEN if verdict is FigureVerdict.BAD else AlertStep.NOTHING
    if verdict is FigureVerdict.GOOD:
        return _after_good(standing.good_since, at)
    if not standing.is_muted:
        if standing.told_at is None:
            return AlertStep.TELL
        if abs(at - standing.told_at) >= REMINDED_AFTER:
            return AlertStep.REMIND
    return AlertStep.NOTHING if standing.good_since is None else AlertStep.RELAPSE


def _after_good(since: datetime | None, at: datetime) -> AlertStep:
    if since is None:
        return AlertStep.CALM
    return AlertStep.CLOSE if abs(at - since) >= GOOD_FOR else AlertStep.NOTHING
