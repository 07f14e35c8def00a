"""Takes the prices of a file for a provider: first what would change, then the change."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from django.db import transaction
from django.utils.translation import gettext as _

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.models import Action, ModelPrice, Provider
from copilot_admin.pricing.book import price_of, prices_changed
from copilot_admin.pricing.cost import Price
from copilot_admin.pricing.litellm import PriceEntry, PriceFile, Skipped

_TAKEN = ("input", "cached", "output", "reasoning", "exact_up_to")


class PriceEffect(StrEnum):
    """What an import does to the price of a model."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceLine:
    """What becomes of one model; `before` is the price that is valid on the day without it."""

    model: str
    effect: PriceEffect
    price: Price
    before: Price | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PricePlan:
    """What an import does: the lines by model, and what of the file is not taken."""

    lines: tuple[PriceLine, ...]
    skipped: tuple[Skipped, ...]

    def having(self, effect: PriceEffect) -> tuple[PriceLine, ...]:
        """The lines that have one effect."""
        return tuple(line for line in self.lines if line.effect is effect)


def chosen(
    file: PriceFile, *, listed: Collection[str] | None, vendor: str = "", free: bool = False
) -> tuple[Mapping[str, Price], tuple[Skipped, ...]]:
    """The prices by model that are taken from a file, and what is not.

    Args:
        file: What was read.
        listed: The models that the provider lists, which alone are taken; None: all.
        vendor: Only of this seller, as LiteLLM names it; empty: of all.
        free: Also what is said to cost nothing. LiteLLM says so, too, where it knows no price.
    """
    taken: dict[str, PriceEntry] = {}
    skipped = list(file.skipped)
    for entry in file.entries:
        name, reason = _name_for(entry, listed=listed, vendor=vendor)
        if not reason and entry.price.is_nothing and not free:
            reason = _(
                "It is said to cost nothing, which is also written where nobody knows. If it is "
                "free, add a price of 0."
            )
        other = taken.get(name)
        if not reason and other is not None and other.price != entry.price:
            reason = _("Another entry of the file is called %(name)s too.") % {"name": name}
            if entry.key == name:  # the entry that bears the very name counts
                entry, taken[name] = other, entry
        if reason:
            skipped.append(Skipped(entry.key, reason))
        else:
            taken.setdefault(name, entry)
    return {name: entry.price for name, entry in taken.items()}, tuple(skipped)


def plan_of(
    provider: Provider, prices: Mapping[str, Price], *, day: date, skipped: Sequence[Skipped] = ()
) -> PricePlan:
    """What it would change if prices began on a day; reads the database once."""
    before = _valid_on(provider, day)
    lines = (
        PriceLine(
            model=model,
            effect=_effect(before.get(model), price),
            price=price,
            before=before.get(model),
        )
        for model, price in sorted(prices.items())
    )
    return PricePlan(lines=tuple(lines), skipped=tuple(skipped))


def carry_out(provider: Provider, plan: PricePlan, *, day: date) -> int:
    """Lets what is new or changed begin on a day; the prices before it stay. Writes.

    Returns:
        How many prices there are that were not.
    """
    rows = [
        ModelPrice(
            provider=provider,
            model=line.model,
            valid_from=day,
            note=_("Imported"),
            **{name: getattr(line.price, name) for name in _TAKEN},
        )
        for line in plan.lines
        if line.effect is not PriceEffect.SAME
    ]
    with transaction.atomic():
        ModelPrice.objects.bulk_create(
            rows,
            batch_size=500,
            update_conflicts=True,
            unique_fields=["provider", "model", "valid_from"],
            update_fields=[*_TAKEN, "note", "updated_at"],
        )
        prices_changed()
    return len(rows)


def record_prices(plan: PricePlan, provider: Provider, *, day: date, by: Actor) -> None:
    """Says in the audit trail which prices a plan has changed; call it in the transaction."""
    lines = [line for line in plan.lines if line.effect is not PriceEffect.SAME]
    before = {line.model: _told(line.before) for line in lines if line.before}
    after = {"from": day, **{line.model: _told(line.price) for line in lines}}
    if lines:
        record(Action.IMPORTED, by=by, on=Subject.of(provider), before=before, after=after)


def _told(price: Price) -> Mapping[str, object]:
    return {name: getattr(price, name) for name in _TAKEN}


def _name_for(entry: PriceEntry, *, listed: Collection[str] | None, vendor: str) -> tuple[str, str]:
    """What the provider calls the model, or why it is not taken."""
    if vendor and entry.vendor != vendor:
        return "", _("It is not of %(vendor)s.") % {"vendor": vendor}
    if listed is None:
        return entry.name, ""
    name = next((name for name in entry.names if name in listed), "")
    return name, "" if name else _("The provider does not list it.")


def _valid_on(provider: Provider, day: date) -> Mapping[str, Price]:
    rows = provider.prices.filter(valid_from__lte=day).order_by("valid_from")
    return {row.model: price_of(row) for row in rows}


def _effect(before: Price | None, price: Price) -> PriceEffect:
    if before is None:
        return PriceEffect.NEW
    return PriceEffect.SAME if before == price else PriceEffect.CHANGED


def reasons(skipped: Sequence[Skipped]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Why entries are skipped, the commonest reason first, each with the entries."""
    by_reason: dict[str, list[str]] = {}
    for one in skipped:
        by_reason.setdefault(one.reason, []).append(one.key)
    for reason, keys in sorted(by_reason.items(), key=lambda each: -len(each[1])):
        yield reason, tuple(keys)
