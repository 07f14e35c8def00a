"""Thumbs down: people do not like what they get."""

from decimal import Decimal

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from copilot_admin.alerts.kind import Measured, RuleKind, Unit, Watched
from copilot_admin.alerts.rollups import sums_of_hours
from copilot_admin.alerts.windows import SHORT, Window
from copilot_admin.alerts.words import reasons
from copilot_admin.review.counted import Counted


def _measure(watched: Watched) -> Measured:
    down = int(sums_of_hours(watched.scope, watched.span, "down")["down"])
    said = ngettext("%(number)d thumb down", "%(number)d thumbs down", down)
    wanted = watched.with_words and down > 0
    return Measured(
        value=Decimal(down),
        sentence=said % {"number": down},
        query={"counted": str(Counted(what="down", span=watched.span))},
        words=reasons(watched.scope, watched.span) if wanted else (),
    )


THUMBS_DOWN = RuleKind(
    name="thumbs_down",
    label=_("Thumbs down"),
    help=_("Thumbs down on what was asked within the time."),
    unit=Unit.NUMBER,
    measure=_measure,
    windows=(Window.ONE_DAY, *SHORT[:-1], Window.ONE_WEEK),
    threshold=Decimal(3),
    has_words=True,
)
