"""Silence: nobody asks where people usually do, at the same hours of the weeks before."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from statistics import median_low

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.alerts.kind import FigureUnit, MeasuredFigure, RuleKind, Watched
from copilot_admin.alerts.rollups import sums_of_hours
from copilot_admin.alerts.windows import SHORT, AlertWindow
from copilot_admin.models import Copilot
from copilot_admin.transcripts.search.counted import Counted
from copilot_admin.transcripts.search.periods import HOUR, Span

WEEK = timedelta(days=7)
WEEKS = 4
FEWEST_WEEKS = 2  # one week says nothing of what is usual


def usual_of(weeks: Sequence[int]) -> int | None:
    """What is usual, of the last weeks, the newest first; None: nobody can say yet.

    The middle one: a week of holidays changes nothing. Weeks before the first question are none.
    """
    known = list(weeks)
    while known and not known[-1]:
        known.pop()
    return median_low(known) if len(known) >= FEWEST_WEEKS else None


def _measure(watched: Watched) -> MeasuredFigure:
    now = watched.span
    # Of the hour that runs only so much counts as there is: in earlier weeks it does not count.
    earlier = [Span(now.first - n * WEEK, now.end - HOUR - n * WEEK) for n in range(1, WEEKS + 1)]
    # One statement each: over several spans at once, SQLite reads the whole table.
    usual = usual_of([_asked(watched, span) for span in earlier])
    if usual is None or not usual or not _can_be_asked(watched):
        return MeasuredFigure(value=None, sentence=_("It is not known how much is usual"))
    asked = _asked(watched, now)
    said = _("%(asked)d questions were asked; usually it is %(usual)d")
    last_week = Span(earlier[0].first, earlier[0].end)
    return MeasuredFigure(
        value=Decimal(100 * asked) / usual,
        basis=usual,
        sentence=said % {"asked": asked, "usual": usual},
        query={"counted": str(Counted(what="questions", span=last_week))},
    )


def _asked(watched: Watched, span: Span) -> int:
    return int(sums_of_hours(watched.scope, span, "questions")["questions"])


def _can_be_asked(watched: Watched) -> bool:
    """Whether there is a copilot that answers: of what was switched off silence is expected."""
    answering = Copilot.objects.filter(enabled=True, live__isnull=False)
    if watched.scope.ids is not None:
        answering = answering.filter(pk__in=watched.scope.ids)
    return answering.exists()


SILENCE = RuleKind(
    name="silence",
    label=gettext_lazy("Silence"),
    help=gettext_lazy(
        "Questions in per cent of what is usual: the middle of the same hours of the last four weeks. "
        "0: nobody asks at all."
    ),
    unit=FigureUnit.PER_CENT,
    measure=_measure,
    windows=(
        AlertWindow.THREE_HOURS,
        *(one for one in SHORT if one is not AlertWindow.THREE_HOURS),
    ),
    threshold=Decimal(0),
    minimum=10,
    minimum_label=gettext_lazy("questions that are usual"),
    is_low_bad=True,
)
