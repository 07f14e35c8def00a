"""A failing provider: its answers are missing, late or broken.

Rollups know no provider. Where they know of no error the journal is not asked at all; else the newest
requests of the copilots with the most errors are, found by an index.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.alerts.kind import FigureUnit, MeasuredFigure, RuleKind, Watched
from copilot_admin.alerts.rollups import most_failing
from copilot_admin.alerts.windows import SHORT
from copilot_admin.alerts.words import few
from copilot_admin.models import Outcome, Run
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.transcripts.search.counted import PROVIDER_FAULTS, Counted
from copilot_admin.transcripts.search.periods import Span

COPILOTS = 20
RUNS = 500  # of each
LOOKED_AT = 100  # requests that failed, for what was said of them


@dataclass(slots=True)
class _Provider:
    """What the newest requests say of a provider; `failed` are the ids of those that it failed."""

    name: str
    asked: int = 0
    failed: list[UUID] = field(default_factory=list)

    @property
    def share(self) -> Decimal:
        return Decimal(100 * len(self.failed)) / self.asked


def _measure(watched: Watched) -> MeasuredFigure:
    copilots = most_failing(watched.scope, watched.span, most=COPILOTS)
    providers = [one for one in _counted(copilots, watched.span) if one.failed]
    if not providers:
        return MeasuredFigure(value=None, sentence=_("No provider failed"))
    worst = max(providers, key=lambda one: (one.share, len(one.failed)))
    said = _("The provider %(name)s failed %(failed)d of %(asked)d requests") % {
        "name": worst.name,
        "failed": len(worst.failed),
        "asked": worst.asked,
    }
    query = {
        "provider": worst.name,
        "counted": str(Counted(what="faults", span=watched.span, detail=worst.name)),
    }
    words = _words(worst.failed) if watched.with_words else ()
    return MeasuredFigure(
        value=worst.share, basis=worst.asked, sentence=said, query=query, words=words
    )


def _counted(copilots: Sequence[int], span: Span) -> list[_Provider]:
    """What was asked of each provider, by their names."""
    found: dict[str, _Provider] = {}
    for copilot in copilots:
        rows = Run.objects.filter(
            copilot=copilot, started_at__gte=span.first, started_at__lt=span.end
        ).order_by("-started_at")
        columns = rows.values_list("pk", "provider", "principal", "outcome", "error_code")
        for pk, name, principal, outcome, code in columns[:RUNS]:
            if not name or outcome == Outcome.RUNNING or principal.startswith(PLAYGROUND):
                continue
            provider = found.setdefault(name, _Provider(name))
            provider.asked += 1
            if code in PROVIDER_FAULTS:
                provider.failed.append(pk)
    return [found[name] for name in sorted(found)]


def _words(failed: Sequence[UUID]) -> tuple[str, ...]:
    """What callers were told where it failed: of each copilot the newest requests."""
    rows = Run.objects.filter(pk__in=failed[:LOOKED_AT]).order_by("-started_at")
    return few(rows.values_list("error", flat=True))


FAILING_PROVIDER = RuleKind(
    name="failing_provider",
    label=gettext_lazy("A failing provider"),
    help=gettext_lazy(
        "Requests that a provider did not answer, refused or broke off, in per cent of those it got; "
        "the worst provider counts."
    ),
    unit=FigureUnit.PER_CENT,
    measure=_measure,
    windows=SHORT,
    threshold=Decimal(20),
    minimum=10,
    minimum_label=gettext_lazy("requests to it"),
    has_words=True,
)
