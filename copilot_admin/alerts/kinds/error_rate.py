"""The error rate: requests that failed, crashed or were interrupted, of all."""

from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.alerts.kind import FigureUnit, MeasuredFigure, RuleKind, Watched
from copilot_admin.alerts.rollups import sums_of_hours
from copilot_admin.alerts.windows import SHORT
from copilot_admin.alerts.words import errors
from copilot_admin.transcripts.search.counted import Counted


def _measure(watched: Watched) -> MeasuredFigure:
    counted = sums_of_hours(watched.scope, watched.span, "runs", "errors")
    runs, bad = int(counted["runs"]), int(counted["errors"])
    said = _("%(bad)d of %(runs)d requests ended in an error") % {"bad": bad, "runs": runs}
    wanted = watched.with_words and bad > 0
    return MeasuredFigure(
        value=Decimal(100 * bad) / runs if runs else None,
        basis=runs,
        sentence=said,
        query={"counted": str(Counted(what="errors", span=watched.span))},
        words=errors(watched.scope, watched.span) if wanted else (),
    )


ERROR_RATE = RuleKind(
    name="error_rate",
    label=gettext_lazy("Error rate"),
    help=gettext_lazy("Requests that failed, crashed or were interrupted, in per cent of all."),
    unit=FigureUnit.PER_CENT,
    measure=_measure,
    windows=SHORT,
    threshold=Decimal(10),
    minimum=20,
    minimum_label=gettext_lazy("requests"),
    has_words=True,
)
