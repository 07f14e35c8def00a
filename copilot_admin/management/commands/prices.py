"""`manage.py prices`: price old requests whose cost is unknown."""

from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from copilot_admin.jobs.costs import price_unknown_runs
from copilot_admin.management.base import SanitizedCommand, get_provider
from copilot_admin.models import Action, CostConfidence, Provider
from copilot_admin.pricing.cost import format_exact


class Command(SanitizedCommand):
    help = "Price requests whose cost is unknown."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        fills = actions.add_parser("fill", help="price requests whose cost is unknown")
        fills.add_argument("--provider", default="", metavar="NAME", help="only its requests")
        fills.add_argument("--yes", action="store_true", help="apply; the default is a dry run")
        fills.set_defaults(run=self._fill)

    def _fill(self, *, provider: str, yes: bool, **_: Any) -> None:
        name = get_provider(provider).name if provider else ""
        counts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        costs: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
        try:
            for run, bill in price_unknown_runs(provider=name, saving=yes):
                model, cost = (run.provider, run.model), bill.cost
                if cost.amount is None:
                    counts[model]["unpriced" if bill.price is None else "uncounted"] += 1
                else:
                    counts[model][cost.confidence] += 1
                    costs[model] += cost.amount
        finally:  # an interrupted run has filled what it reports
            if yes:
                self._record_costs(counts, costs)
            for (provider_name, model_name), count in sorted(counts.items()):
                amount = format_exact(costs[provider_name, model_name])
                self.stdout.write(
                    f"{provider_name or '-'} {model_name or '-'}: "
                    f"{count[CostConfidence.EXACT]} exact, "
                    f"{count[CostConfidence.ESTIMATED]} estimated, {amount} dollars; unknown: "
                    f"{count['unpriced']} without a price for their day, "
                    f"{count['uncounted']} without token counts"
                )
        if not counts:
            self.stdout.write("The cost of every request is known.")
        if not yes:
            self.stdout.write("Dry run: nothing changed. Re-run with --yes to apply.")

    def _record_costs(
        self,
        counts: Mapping[tuple[str, str], Counter[str]],
        costs: Mapping[tuple[str, str], Decimal],
    ) -> None:
        providers = {row.name: row for row in Provider.objects.all()}
        for provider, model in sorted(costs):
            if provider in providers:
                count, dollars = counts[provider, model], format_exact(costs[provider, model])
                facts = {"costs filled": model, "exact": count[CostConfidence.EXACT]}
                facts |= {"estimated": count[CostConfidence.ESTIMATED], "dollars": dollars}
                self.record(Action.CHANGED, providers[provider], facts)
