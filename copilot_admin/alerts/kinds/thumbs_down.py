"""Thumbs down: people do not like what they get. They count when they are given, however late that is."""

from decimal import Decimal

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from copilot_admin.alerts.kind import FigureUnit, MeasuredFigure, RuleKind, Watched
from copilot_admin.alerts.windows import SHORT, AlertWindow
from copilot_admin.alerts.words import reasons
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.search.counted import Counted, complaints


def _measure(watched: Watched) -> MeasuredFigure:
    given = complaints(watched.span).filter(watched.scope.of_feedback)
    down = given.exclude(turn__conversation__principal__startswith=PLAYGROUND).count()
    said = ngettext("%(number)d thumb down", "%(number)d thumbs down", down)
    wanted = watched.with_words and down > 0
    return MeasuredFigure(
        value=Decimal(down),
        sentence=said % {"number": down},
        query={"counted": str(Counted(what="complaints", span=watched.span))},
        words=reasons(watched.scope, watched.span) if wanted else (),
    )


THUMBS_DOWN = RuleKind(
    name="thumbs_down",
    label=_("Thumbs down"),
    help=_("Thumbs down that were given within the time, whenever the question was asked."),
    unit=FigureUnit.NUMBER,
    measure=_measure,
    windows=(AlertWindow.ONE_DAY, *SHORT[:-1], AlertWindow.ONE_WEEK),
    threshold=Decimal(3),
    has_words=True,
)
