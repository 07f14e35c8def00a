"""Import of a price file for a provider: its entries, a plan of the changes, and its execution.

Files have the form of model_prices_and_context_window.json of BerriAI/litellm: an object by model,
with US dollars per token under each kind of token, `litellm_provider` for the vendor, and `mode`.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from enum import StrEnum
import json
import re
from typing import Any, NamedTuple

from django.db import transaction
from django.utils.translation import gettext as _

from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Action, ModelPrice, Provider
from copilot_admin.models.pricing import MAX_PRICE, PRICED_TOKENS
from copilot_admin.pricing.prices import (
    PRICE_FIELDS,
    PRICE_STEP,
    Price,
    build_price,
    clear_price_cache_on_change,
)

MAX_FILE_BYTES = 20 * 1024 * 1024  # the published file has 3
MAX_MODEL_LENGTH = 200
_MODES = ("chat", "completion", "responses", None)  # others aren't priced by tokens
_KINDS = {
    "input": "input_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "output": "output_cost_per_token",
    "reasoning": "output_cost_per_reasoning_token",
}
_OTHER_PRICING = ("input_cost_per_request", "off_peak_pricing")  # makes costs by tokens estimates
_EXAMPLE_KEY = "sample_spec"
_TIER_KEY = re.compile(r".*_cost.*_above_([0-9]{1,6}k|[0-9]{1,9})_tokens")


class InvalidPriceFile(ConfigurationError):
    """The file has another form, or no model with prices."""


class _InvalidEntry(Exception):
    """An entry is not imported; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceEntry:
    """Price of one model in a file; `vendor` is its `litellm_provider`."""

    key: str
    vendor: str
    price: Price

    @property
    def name(self) -> str:
        """The model without its vendor; `vertex_ai/x` may have the vendor `vertex_ai-mistral`."""
        start, _slash, rest = self.key.partition("/")
        return rest if start and rest and self.vendor.split("-")[0] == start else self.key

    @property
    def names(self) -> tuple[str, ...]:
        """Names that a provider may use, the likeliest first."""
        rest = self.key.partition("/")[2]
        return tuple(dict.fromkeys(filter(None, (self.key, self.name, rest))))


class SkippedEntry(NamedTuple):
    key: str
    reason: str


class PriceFile(NamedTuple):
    entries: tuple[PriceEntry, ...]
    skipped: tuple[SkippedEntry, ...]


def parse_price_file(data: bytes) -> PriceFile:
    """Parse a file in LiteLLM's form; raise InvalidPriceFile if nothing in it can be imported."""
    if len(data) > MAX_FILE_BYTES:
        raise InvalidPriceFile(_("The file is larger than 20 MB."))
    try:
        models = json.loads(data.decode("utf-8-sig"), parse_float=Decimal, parse_int=Decimal)
    except (ValueError, InvalidOperation, RecursionError) as error:
        text = _("The file is not valid JSON: %(error)s") % {"error": error}
        raise InvalidPriceFile(text) from error
    entries, skipped = [], []
    for key, value in models.items() if isinstance(models, dict) else ():
        try:
            entries.append(_build_entry(key, value))
        except _InvalidEntry as error:
            shown = key if key.isprintable() else ascii(key)
            skipped.append(SkippedEntry(shown[:MAX_MODEL_LENGTH], str(error)))
    if not entries:
        text = _(
            "No model in this file has prices per token. Choose LiteLLM's "
            "model_prices_and_context_window.json, or a file of its form."
        )
        raise InvalidPriceFile(text)
    return PriceFile(tuple(entries), tuple(skipped))


def _build_entry(key: str, entry: Any) -> PriceEntry:
    if key == _EXAMPLE_KEY:
        raise _InvalidEntry(_("It is the example in the file."))
    if not key.strip() or len(key) > MAX_MODEL_LENGTH or not key.isprintable():
        raise _InvalidEntry(_("Its name is not valid."))
    if not isinstance(entry, dict):
        raise _InvalidEntry(_("It has no prices."))
    if entry.get("mode") not in _MODES:
        raise _InvalidEntry(_("It is not for text."))
    prices = {kind: _parse_price(key, entry.get(key)) for kind, key in _KINDS.items()}
    if prices["input"] is None or prices["output"] is None:
        raise _InvalidEntry(_("It has no prices per token of input and output."))
    vendor = str(entry.get("litellm_provider") or "")
    price = Price(**prices, exact_up_to=min(_get_tier_limits(entry), default=None))  # type: ignore[arg-type]  # two of them aren't None
    return PriceEntry(key=key, vendor=vendor if vendor.isprintable() else "", price=price)


def _parse_price(key: str, value: object) -> Decimal | None:
    if value is None:
        return None
    try:
        number = Decimal(str(value))
        if isinstance(value, bool) or not 0 <= number <= Decimal(MAX_PRICE) / PRICED_TOKENS:
            raise InvalidOperation
        # Finer digits are noise: 2.00000000000002e-07.
        price = abs(number * PRICED_TOKENS).quantize(PRICE_STEP)
        if number and not price:  # too small for the column
            raise InvalidOperation
    except InvalidOperation:
        raise _InvalidEntry(_("%(key)s is not a valid price.") % {"key": key}) from None
    return price


def _get_tier_limits(entry: Mapping[str, Any]) -> Iterator[int]:
    if any(entry.get(key) for key in _OTHER_PRICING):
        yield 0
    for key, price in entry.items():
        if price is not None and (found := _TIER_KEY.fullmatch(key)):
            yield int(found[1].replace("k", "000"))


def dump_price_file(prices: Mapping[str, Price]) -> str:
    """Write prices by model as a file that `parse_price_file` reads."""
    models: dict[str, dict[str, str]] = {}
    for model, price in prices.items():
        models[model] = {
            key: f"{amount / PRICED_TOKENS:f}"
            for kind, key in _KINDS.items()
            if (amount := getattr(price, kind)) is not None
        }
        if price.exact_up_to is not None:
            models[model][f"input_cost_per_token_above_{price.exact_up_to}_tokens"] = "0"
    return json.dumps(models)


Skipped = tuple[SkippedEntry, ...]


class PriceEffect(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    SAME = "same"


class PriceChange(NamedTuple):
    """Price of one model in a file; `before` is valid on that day without the import."""

    model: str
    price: Price
    before: Price | None = None

    @property
    def effect(self) -> PriceEffect:
        if self.before is None:
            return PriceEffect.NEW
        return PriceEffect.SAME if self.before == self.price else PriceEffect.CHANGED


class ImportPlan(NamedTuple):
    changes: tuple[PriceChange, ...]
    skipped: Skipped

    def with_effect(self, *effects: PriceEffect) -> tuple[PriceChange, ...]:
        return tuple(change for change in self.changes if change.effect in effects)


def select_prices(
    file: PriceFile, *, listed: Collection[str] | None, vendor: str = ""
) -> tuple[Mapping[str, Price], Skipped]:
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
    provider: Provider, prices: Mapping[str, Price], *, day: date, skipped: Skipped = ()
) -> ImportPlan:
    """Compare prices that begin on a day with those of the database, in one query."""
    rows = provider.prices.filter(valid_from__lte=day).order_by("valid_from")
    before = {row.model: build_price(row) for row in rows}
    changes = tuple(PriceChange(*one, before.get(one[0])) for one in sorted(prices.items()))
    return ImportPlan(changes, tuple(skipped))


def apply_plan(
    provider: Provider, plan: ImportPlan, *, day: date, by: Actor, note: str = ""
) -> int:
    """Write new and changed prices from a day on, with an audit entry; return their number."""
    changes = plan.with_effect(PriceEffect.NEW, PriceEffect.CHANGED)
    shared = {"provider": provider, "valid_from": day, "note": note or _("Imported")}
    rows = [ModelPrice(model=one.model, **shared, **_get_fields(one.price)) for one in changes]
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


def group_by_reason(skipped: Skipped) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the reasons for skipping entries, the commonest first, each with the entries' keys."""
    by_reason: dict[str, list[str]] = {}
    for one in skipped:
        by_reason.setdefault(one.reason, []).append(one.key)
    for reason, keys in sorted(by_reason.items(), key=lambda each: -len(each[1])):
        yield reason, tuple(keys)
