"""A failing provider: its answers are missing, late or broken.

Rollups know no provider. Where they know of no error the journal is not asked at all; else the newest
requests of the copilots with the most errors are, found by an index.
"""

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.alerts.kind import Measured, RuleKind, Unit, Watched
from copilot_admin.alerts.rollups import most_failing
from copilot_admin.alerts.windows import SHORT
from copilot_admin.alerts.words import errors
from copilot_admin.models import Outcome, Run
from copilot_admin.models.transcripts import PLAYGROUND
from copilot_admin.review.counted import PROVIDER_FAULTS, Counted
from copilot_admin.review.periods import Span

COPILOTS = 20
RUNS = 500  # of each


@dataclass(frozen=True, slots=True)
class _Provider:
    name: str
    failed: int
    asked: int

    @property
    def share(self) -> Decimal:
        return Decimal(100 * self.failed) / self.asked


def _measure(watched: Watched) -> Measured:
    copilots = most_failing(watched.scope, watched.span, most=COPILOTS)
    asked, failed = _counted(copilots, watched.span)
    providers = [_Provider(name, failed[name], asked[name]) for name in sorted(failed)]
    if not providers:
        return Measured(value=None, sentence=_("No provider failed"))
    worst = max(providers, key=lambda one: (one.share, one.failed))
    said = _("The provider %(name)s failed %(failed)d of %(asked)d requests") % {
        "name": worst.name,
        "failed": worst.failed,
        "asked": worst.asked,
    }
    query = {
        "provider": worst.name,
        "counted": str(Counted(what="faults", span=watched.span, detail=worst.name)),
    }
    words = errors(watched.scope, watched.span) if watched.with_words else ()
    return Measured(value=worst.share, basis=worst.asked, sentence=said, query=query, words=words)


def _counted(copilots: list[int], span: Span) -> tuple[Counter[str], Counter[str]]:
    """How often each provider was asked, and how often it failed."""
    asked: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for copilot in copilots:
        rows = Run.objects.filter(
            copilot=copilot, started_at__gte=span.first, started_at__lt=span.end
        ).order_by("-started_at")
        columns = rows.values_list("provider", "principal", "outcome", "error_code")
        for provider, principal, outcome, code in columns[:RUNS]:
            if not provider or outcome == Outcome.RUNNING or principal.startswith(PLAYGROUND):
                continue
            asked[provider] += 1
            if code in PROVIDER_FAULTS:
                failed[provider] += 1
    return asked, failed


FAILING_PROVIDER = RuleKind(
    name="failing_provider",
    label=gettext_lazy("A failing provider"),
    help=gettext_lazy(
        "Requests that a provider did not answer, refused or broke off, in per cent of those it got; "
        "the worst provider counts."
    ),
    unit=Unit.PER_CENT,
    measure=_measure,
    windows=SHORT,
    threshold=Decimal(20),
    minimum=10,
    minimum_label=gettext_lazy("requests to it"),
    has_words=True,
)
