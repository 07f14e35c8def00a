"""`manage.py prices import`: prices of models, out of a file of LiteLLM's form."""

from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Collection, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from copilot_admin.audit.actor import Actor
from copilot_admin.copilots.model_lists import fetch_models, known_models
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Provider
from copilot_admin.prices.cost import Price
from copilot_admin.prices.importing import (
    PriceEffect,
    PriceLine,
    PricePlan,
    carry_out,
    chosen,
    plan_of,
    reasons,
    record_prices,
)
from copilot_admin.prices.litellm import MOST_BYTES, read_prices
from copilot_admin.prices.money import plain

NAMED = 5  # entries that are named for each reason to skip them


def day(text: str) -> date:
    """A day.

    Raises:
        ArgumentTypeError: It is none.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"{text!r} is no date. Write 2030-12-31.") from None


class Command(BaseCommand):
    """Imports prices."""

    help = "Imports the prices of models from a file in the form that LiteLLM publishes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declares `import`."""
        imports = parser.add_subparsers(dest="action", required=True).add_parser(
            "import", help="new prices begin on a day; those before it stay"
        )
        imports.add_argument("file", type=Path, metavar="FILE", help="- for standard input")
        imports.add_argument("--provider", required=True, metavar="NAME", help="whose prices")
        imports.add_argument(
            "--all", action="store_true", help="also models that the provider does not list"
        )
        imports.add_argument(
            "--vendor", default="", metavar="NAME", help="only entries with this litellm_provider"
        )
        imports.add_argument(
            "--from", dest="day", type=day, metavar="DATE", help="first day (UTC); default: today"
        )
        imports.add_argument("--dry-run", action="store_true", help="tell, and change nothing")

    def handle(
        self,
        *,
        file: Path,
        provider: str,
        vendor: str,
        day: date | None,
        dry_run: bool,
        **options: Any,
    ) -> None:
        """Imports a file, and says what became of each model."""
        row = Provider.objects.filter(name__iexact=provider).first()
        if row is None:
            raise CommandError(f"There is no provider '{provider}'. Add it in the admin first.")
        begins = day or datetime.now(UTC).date()
        try:
            read = read_prices(_bytes_of(file))
            listed = None if options["all"] else _listed(row)
            prices, skipped = chosen(read, listed=listed, vendor=vendor)
        except (ConfigurationError, RunError) as error:
            raise CommandError(error.public) from error
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from error
        plan = plan_of(row, prices, day=begins, skipped=skipped)
        if not dry_run:
            with transaction.atomic():
                carry_out(row, plan, day=begins)
                record_prices(plan, row, day=begins, by=Actor.command())
        self.stdout.write("\n".join(_lines(plan)))
        if dry_run:
            self.stdout.write("Nothing was changed (--dry-run).")


def _bytes_of(file: Path) -> bytes:
    """The file, or as much of it as shows that it is too large."""
    if str(file) == "-":
        return sys.stdin.buffer.read(MOST_BYTES + 1)
    with file.open("rb") as opened:
        return opened.read(MOST_BYTES + 1)


def _listed(provider: Provider) -> Collection[str]:
    """The models that the provider lists; it is asked if nobody has done so lately."""
    return frozenset(known_models(provider.pk) or fetch_models(provider))


def _lines(plan: PricePlan) -> Iterator[str]:
    for line in plan.lines:
        if line.effect is not PriceEffect.SAME:
            yield _line(line)
    for effect in PriceEffect:
        yield f"{effect}: {len(plan.having(effect))}"
    yield f"skipped: {len(plan.skipped)}"
    for reason, keys in reasons(plan.skipped):
        more = ", ..." if len(keys) > NAMED else ""
        yield f"  {len(keys)}: {reason} ({', '.join(keys[:NAMED])}{more})"


def _line(line: PriceLine) -> str:
    before = f" (before: {_shown(line.before)})" if line.before else ""
    return f"{line.model}: {line.effect}, {_shown(line.price)}{before}"


def _shown(price: Price) -> str:
    kinds = ("input", "cached", "output", "reasoning")
    amounts = ((kind, getattr(price, kind)) for kind in kinds)
    return ", ".join(f"{kind} {plain(amount)}" for kind, amount in amounts if amount is not None)
