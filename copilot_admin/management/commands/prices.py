"""`manage.py prices`: import prices of models, and price old requests whose cost is unknown."""

from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from copilot_admin.audit.recording import Actor
from copilot_admin.copilots.providers import fetch_models, known_models
from copilot_admin.jobs.costs import price_unknown_runs
from copilot_admin.management.base import SanitizedCommand, get_provider, parse_date, read_file
from copilot_admin.models import Action, CostConfidence, Provider
from copilot_admin.pricing.cost import format_exact
from copilot_admin.pricing.imports import (
    MAX_FILE_BYTES,
    ImportPlan,
    PriceEffect,
    apply_plan,
    build_plan,
    group_by_reason,
    parse_price_file,
    select_prices,
)
from copilot_admin.pricing.prices import PRICE_FIELDS, Price

MAX_SKIPPED_NAMES = 5  # for each reason


class Command(SanitizedCommand):
    help = "Import the prices of models, and price requests whose cost is unknown."

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        imports = actions.add_parser("import", help="import a price file")
        imports.add_argument("file", type=Path, metavar="FILE", help="- for standard input")
        imports.add_argument("--provider", required=True, metavar="NAME")
        imports.add_argument("--all", action="store_true", help="include models it does not list")
        imports.add_argument(
            "--vendor", default="", metavar="NAME", help="only this litellm_provider"
        )
        imports.add_argument(
            "--from", dest="day", type=parse_date, metavar="DATE", help="UTC; default: today"
        )
        imports.add_argument("--dry-run", action="store_true", help="only show the changes")
        imports.set_defaults(run=self._import)
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

    def _import(
        self, *, file: Path, provider: str, day: date | None, dry_run: bool, **options: Any
    ) -> None:
        row = get_provider(provider)
        starts = day or datetime.now(UTC).date()
        parsed = parse_price_file(read_file(file, max_bytes=MAX_FILE_BYTES))
        listed = None if options["all"] else known_models(row.pk) or fetch_models(row)
        prices, skipped = select_prices(parsed, listed=listed, vendor=options["vendor"])
        plan = build_plan(row, prices, day=starts, skipped=skipped)
        if not dry_run:
            apply_plan(row, plan, day=starts, by=Actor.command())
        self.stdout.write("\n".join(_describe_plan(plan)))
        if dry_run:
            self.stdout.write("Nothing was changed (--dry-run).")

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


def _describe_plan(plan: ImportPlan) -> Iterator[str]:
    for change in plan.with_effect(PriceEffect.NEW, PriceEffect.CHANGED):
        before = f" (before: {_format_price(change.before)})" if change.before else ""
        yield f"{change.model}: {change.effect}, {_format_price(change.price)}{before}"
    for effect in PriceEffect:
        yield f"{effect}: {len(plan.with_effect(effect))}"
    yield f"skipped: {len(plan.skipped)}"
    for reason, keys in group_by_reason(plan.skipped):
        more = ", ..." if len(keys) > MAX_SKIPPED_NAMES else ""
        yield f"  {len(keys)}: {reason} ({', '.join(keys[:MAX_SKIPPED_NAMES])}{more})"


def _format_price(price: Price) -> str:
    amounts = {kind: getattr(price, kind) for kind in PRICE_FIELDS[:4]}
    return ", ".join(
        f"{kind} {format_exact(one)}" for kind, one in amounts.items() if one is not None
    )
