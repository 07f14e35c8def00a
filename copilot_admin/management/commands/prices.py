"""`manage.py prices`: imports prices of models, and gives old requests their cost by them."""

from argparse import ArgumentParser, ArgumentTypeError
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
import sys
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.copilots.model_lists import fetch_models, known_models
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.jobs.costs import PricedRun, fill_unknown_costs, list_unknown_costs
from copilot_admin.management.base import SanitizedCommand
from copilot_admin.models import Action, CostConfidence, Provider
from copilot_admin.pricing.imports import (
    ImportPlan,
    PriceChange,
    PriceEffect,
    apply_plan,
    build_plan,
    group_by_reason,
    select_prices,
)
from copilot_admin.pricing.litellm import MAX_FILE_BYTES, parse_price_file
from copilot_admin.pricing.money import format_exact
from copilot_admin.pricing.prices import Price

RECORDED = (
    1000  # requests that are filled before the audit trail is told: more no kill keeps from it
)
NAMED = 5  # entries that are named for each reason to skip them


def day(text: str) -> date:
    """Parse a date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is not a date, use YYYY-MM-DD") from None


@dataclass(slots=True)
class PricedTally:
    """Result for the requests of one model.

    Attributes:
        exact: Requests whose cost is known to the last digit.
        estimated: Requests whose cost is a guess.
        amount: What those cost, in US dollars.
        priceless: Requests that stay unknown, as no price was valid when they started.
        uncounted: Requests that stay unknown for another reason.
    """

    exact: int = 0
    estimated: int = 0
    amount: Decimal = Decimal(0)
    priceless: int = 0
    uncounted: int = 0

    def add(self, found: PricedRun) -> None:
        """Counts a request under what became of its cost."""
        cost = found.bill.cost
        if cost.amount is None and found.bill.price is None:
            self.priceless += 1
        elif cost.amount is None:
            self.uncounted += 1
        else:
            self.amount += cost.amount
            self.exact += cost.confidence is CostConfidence.EXACT
            self.estimated += cost.confidence is CostConfidence.ESTIMATED


class Command(SanitizedCommand):
    """Import prices, and fills costs."""

    help = "Imports the prices of models, and gives requests a cost that had none when they ended."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare `import` and `fill`."""
        actions = parser.add_subparsers(dest="action", required=True)
        _declare_import(actions.add_parser("import", help="new prices begin on a day"))
        fills = actions.add_parser("fill", help="requests of unknown cost get one")
        fills.add_argument("--provider", default="", metavar="NAME", help="only its requests")
        fills.add_argument("--yes", action="store_true", help="do it; without it, tell alone")

    def handle(self, *, action: str, **options: Any) -> None:
        """Run the given action."""
        if action == "fill":
            self._fill(**options)
        else:
            self._import(**options)

    def _fill(self, *, provider: str, yes: bool, **_: Any) -> None:
        """Report the cost of the requests of each model, and store it with `--yes`."""
        name = _row_of(provider).name if provider else ""
        tallies: defaultdict[tuple[str, str], PricedTally] = defaultdict(PricedTally)
        untold: defaultdict[tuple[str, str], PricedTally] = defaultdict(PricedTally)
        try:
            for number, found in enumerate(
                fill_unknown_costs(provider=name) if yes else list_unknown_costs(provider=name), 1
            ):
                for some in (tallies, untold):
                    some[found.run.provider, found.run.model].add(found)
                if yes and number % RECORDED == 0:
                    _record_fill(untold)
                    untold.clear()
        finally:  # what was broken off was done as far as it went
            if yes:
                _record_fill(untold)
            self.stdout.write("\n".join(_told(tallies)))
        if not yes:
            self.stdout.write("Dry run: nothing changed. Re-run with --yes to apply.")

    def _import(
        self,
        *,
        file: Path,
        provider: str,
        vendor: str,
        day: date | None,
        dry_run: bool,
        **options: Any,
    ) -> None:
        """Import a file, and says what became of each model."""
        row = _row_of(provider)
        begins = day or datetime.now(UTC).date()
        try:
            read = parse_price_file(_bytes_of(file))
            listed = None if options["all"] else _listed(row)
            prices, skipped = select_prices(
                read, listed=listed, vendor=vendor, free=options["free"]
            )
        except (ConfigurationError, RunError) as error:
            raise CommandError(error.public) from error
        except OSError as error:
            raise CommandError(f"cannot read {file}: {error.strerror}") from error
        plan = build_plan(row, prices, day=begins, skipped=skipped)
        if not dry_run:
            apply_plan(row, plan, day=begins, by=Actor.command())
        self.stdout.write("\n".join(_lines(plan)))
        if dry_run:
            self.stdout.write("Nothing was changed (--dry-run).")


def _declare_import(imports: ArgumentParser) -> None:
    imports.add_argument("file", type=Path, metavar="FILE", help="- for standard input")
    imports.add_argument("--provider", required=True, metavar="NAME", help="whose prices")
    imports.add_argument(
        "--all", action="store_true", help="also models that the provider does not list"
    )
    imports.add_argument(
        "--free", action="store_true", help="also entries that are said to cost nothing"
    )
    imports.add_argument(
        "--vendor", default="", metavar="NAME", help="only entries with this litellm_provider"
    )
    imports.add_argument(
        "--from", dest="day", type=day, metavar="DATE", help="first day (UTC); default: today"
    )
    imports.add_argument("--dry-run", action="store_true", help="tell, and change nothing")


def _row_of(name: str) -> Provider:
    """The provider of a name.

    Raises:
        CommandError: There is none.
    """
    row = Provider.objects.filter(name__iexact=name).first()
    if row is None:
        raise CommandError(f"There is no provider '{name}'. Add it in the admin first.")
    return row


def _record_fill(tallies: Mapping[tuple[str, str], PricedTally]) -> None:
    """Record how many requests of each provider and model got a cost."""
    rows = {row.name: row for row in Provider.objects.all()}
    for (provider, model), tally in sorted(tallies.items()):
        filled = {"exact": tally.exact, "estimated": tally.estimated}
        if any(filled.values()) and provider in rows:
            told = {"costs filled": model, **filled, "dollars": format_exact(tally.amount)}
            with transaction.atomic():
                record(
                    Action.CHANGED, by=Actor.command(), on=Subject.of(rows[provider]), after=told
                )


def _told(tallies: Mapping[tuple[str, str], PricedTally]) -> Iterable[str]:
    if not tallies:
        yield "The cost of every request is known."
    for (provider, model), tally in sorted(tallies.items()):
        yield (
            f"{provider or '-'} {model or '-'}: {tally.exact} exact, {tally.estimated} estimated, "
            f"{format_exact(tally.amount)} dollars; unknown: {tally.priceless} without a price for their "
            f"day, {tally.uncounted} whose tokens nobody counted or divided"
        )


def _bytes_of(file: Path) -> bytes:
    """Return the file, or enough of it to show that it is too large."""
    if str(file) == "-":
        return sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
    with file.open("rb") as opened:
        return opened.read(MAX_FILE_BYTES + 1)


def _listed(provider: Provider) -> Collection[str]:
    """Return the models that the provider lists; it is asked unless that is known."""
    return frozenset(known_models(provider.pk) or fetch_models(provider))


def _lines(plan: ImportPlan) -> Iterator[str]:
    for line in plan.changes:
        if line.effect is not PriceEffect.SAME:
            yield _line(line)
    for effect in PriceEffect:
        yield f"{effect}: {len(plan.with_effect(effect))}"
    yield f"skipped: {len(plan.skipped)}"
    for reason, keys in group_by_reason(plan.skipped):
        more = ", ..." if len(keys) > NAMED else ""
        yield f"  {len(keys)}: {reason} ({', '.join(keys[:NAMED])}{more})"


def _line(line: PriceChange) -> str:
    before = f" (before: {_shown(line.before)})" if line.before else ""
    return f"{line.model}: {line.effect}, {_shown(line.price)}{before}"


def _shown(price: Price) -> str:
    kinds = ("input", "cached", "output", "reasoning")
    amounts = ((kind, getattr(price, kind)) for kind in kinds)
    return ", ".join(
        f"{kind} {format_exact(amount)}" for kind, amount in amounts if amount is not None
    )
