"""A budget: what answers of a day or a month cost, as far as it is known."""

from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.alerts.kind import FigureUnit, MeasuredFigure, RuleKind, Watched, shown
from copilot_admin.alerts.rollups import sums_of_days
from copilot_admin.alerts.windows import AlertWindow
from copilot_admin.transcripts.search.counted import Counted


def _measure(watched: Watched) -> MeasuredFigure:
    counted = sums_of_days(watched.scope, watched.span, "cost", "unpriced")
    cost, unpriced = Decimal(counted["cost"]), int(counted["unpriced"])
    said = _("Answers cost %(cost)s") % {"cost": shown(FigureUnit.DOLLARS, cost)}
    if unpriced:
        more = ngettext(
            "the cost of %(number)d request more is unknown",
            "the cost of %(number)d requests more is unknown",
            unpriced,
        )
        said = f"{said}; {more % {'number': unpriced}}"
    query = {"counted": str(Counted(what="priced", span=watched.span))}
    return MeasuredFigure(value=cost, sentence=said, query=query)


BUDGET = RuleKind(
    name="budget",
    label=gettext_lazy("A budget"),
    help=gettext_lazy("What answers cost, in US dollars, as far as prices are known."),
    unit=FigureUnit.DOLLARS,
    measure=_measure,
    windows=(AlertWindow.MONTH, AlertWindow.TODAY),
    threshold=Decimal(100),
)
