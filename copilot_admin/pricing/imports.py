"""Import of a price file for a provider: a plan of the changes, and its execution."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from django.db import transaction
from django.utils.translation import gettext as _

from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.models import Action, ModelPrice, Provider
from copilot_admin.pricing.litellm import PriceEntry, PriceFile, SkippedEntry
from copilot_admin.pricing.prices import (
    PRICE_FIELDS,
    Price,
    build_price,
    clear_price_cache_on_change,
)


class PriceEffect(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    SAME = "same"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceChange:
    """Price of one model in a file; `before` is valid on that day without the import."""

    model: str
    price: Price
    before: Price | None = None

    @property
    def effect(self) -> PriceEffect:
        if self.before is None:
            return PriceEffect.NEW
        return PriceEffect.SAME if self.before == self.price else PriceEffect.CHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPlan:
    """Changes by model, and entries that are not imported."""

    changes: tuple[PriceChange, ...]
    skipped: tuple[SkippedEntry, ...]

    def with_effect(self, *effects: PriceEffect) -> tuple[PriceChange, ...]:
        return tuple(change for change in self.changes if change.effect in effects)


def select_prices(
    file: PriceFile, *, listed: Collection[str] | None, vendor: str = ""
) -> tuple[Mapping[str, Price], tuple[SkippedEntry, ...]]:
    """Select the prices to import, by model; None and "" select all.

    Free models are skipped: LiteLLM also writes 0 where a price is unknown.
    """
    taken: dict[str, Price] = {}
    skipped = list(file.skipped)
    named = [(entry, *_find_name(entry, listed=listed, vendor=vendor)) for entry in file.entries]
    # The entry with exactly the name of a model takes precedence.
    for entry, name, reason in sorted(named, key=lambda one: one[0].key != one[1]):
        if not reason and entry.price.is_free:
            reason = _("Its price is 0, which may mean unknown. If it is free, add a price of 0.")
        if not reason and taken.setdefault(name, entry.price) != entry.price:
            reason = _("Another entry of the file has the name %(name)s too.") % {"name": name}
        if reason:
            skipped.append(SkippedEntry(entry.key, reason))
    return taken, tuple(skipped)


def _find_name(
    entry: PriceEntry, *, listed: Collection[str] | None, vendor: str
) -> tuple[str, str]:
    if vendor and entry.vendor != vendor:
        return "", _("Its vendor is not %(vendor)s.") % {"vendor": vendor}
    if listed is None:
        return entry.name, ""
    name = next((name for name in entry.names if name in listed), "")
    return name, "" if name else _("The provider does not list it.")


def build_plan(
    provider: Provider,
    prices: Mapping[str, Price],
    *,
    day: date,
    skipped: Sequence[SkippedEntry] = (),
) -> ImportPlan:
    """Compare prices that begin on a day with those of the database, in one query."""
    rows = provider.prices.filter(valid_from__lte=day).order_by("valid_from")
    before = {row.model: build_price(row) for row in rows}
    changes = (
        PriceChange(model=model, price=price, before=before.get(model))
        for model, price in sorted(prices.items())
    )
    return ImportPlan(changes=tuple(changes), skipped=tuple(skipped))


def apply_plan(
    provider: Provider, plan: ImportPlan, *, day: date, by: Actor, note: str = ""
) -> int:
    """Write new and changed prices from a day on, with an audit entry; return their number."""
    changes = plan.with_effect(PriceEffect.NEW, PriceEffect.CHANGED)
    rows = [
        ModelPrice(
            provider=provider,
            model=change.model,
            valid_from=day,
            note=note or _("Imported"),
            **_get_fields(change.price),
        )
        for change in changes
    ]
    with transaction.atomic():
        ModelPrice.objects.bulk_create(
            rows,
            batch_size=500,
            update_conflicts=True,
            unique_fields=["provider", "model", "valid_from"],
            update_fields=[*PRICE_FIELDS, "note", "updated_at"],
        )
        clear_price_cache_on_change()
        if changes:
            before = {one.model: _get_fields(one.before) for one in changes if one.before}
            after = {"from": day, **{one.model: _get_fields(one.price) for one in changes}}
            on = Subject.of(provider)
            record(Action.IMPORTED, by=by, on=on, before=before, after=after)
    return len(rows)


def _get_fields(price: Price) -> Mapping[str, object]:
    return {name: getattr(price, name) for name in PRICE_FIELDS}


def group_by_reason(skipped: Sequence[SkippedEntry]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the reasons for skipping entries, the commonest first, each with the entries' keys."""
    by_reason: dict[str, list[str]] = {}
    for one in skipped:
        by_reason.setdefault(one.reason, []).append(one.key)
    for reason, keys in sorted(by_reason.items(), key=lambda each: -len(each[1])):
        yield reason, tuple(keys)
