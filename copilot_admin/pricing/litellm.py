"""Price files in the form that LiteLLM publishes; nothing here touches the database.

Source: model_prices_and_context_window.json of BerriAI/litellm: an object by model, with US dollars per
token under each kind of token, the vendor under `litellm_provider`, and the use under `mode`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
import json
import re
from typing import Any

from django.utils.translation import gettext as _

from copilot_admin.errors import ConfigurationError
from copilot_admin.models.pricing import MAX_PRICE, PRICED_TOKENS
from copilot_admin.pricing.prices import PRICE_STEP, Price

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


@dataclass(frozen=True, slots=True)
class SkippedEntry:
    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class PriceFile:
    entries: tuple[PriceEntry, ...]
    skipped: tuple[SkippedEntry, ...]


def parse_price_file(data: bytes) -> PriceFile:
    """Parse a file in LiteLLM's form.

    Raises:
        InvalidPriceFile: Nothing in it can be imported.
    """
    if len(data) > MAX_FILE_BYTES:
        raise InvalidPriceFile(_("The file is larger than 20 MB."))
    try:
        models = json.loads(data.decode("utf-8-sig"), parse_float=Decimal, parse_int=Decimal)
    except (ValueError, InvalidOperation, RecursionError) as error:
        raise InvalidPriceFile(
            _("The file is not valid JSON: %(error)s") % {"error": error}
        ) from error
    entries, skipped = [], []
    for key, value in models.items() if isinstance(models, dict) else ():
        try:
            entries.append(_build_entry(key, value))
        except _InvalidEntry as error:
            shown = key if key.isprintable() else ascii(key)
            skipped.append(SkippedEntry(shown[:MAX_MODEL_LENGTH], str(error)))
    if not entries:
        raise InvalidPriceFile(
            _(
                "No model in this file has prices per token. Choose LiteLLM's "
                "model_prices_and_context_window.json, or a file of its form."
            )
        )
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
        amounts = {key: getattr(price, kind) for kind, key in _KINDS.items()}
        models[model] = {
            key: f"{amount / PRICED_TOKENS:f}"
            for key, amount in amounts.items()
            if amount is not None
        }
        if price.exact_up_to is not None:
            models[model][f"input_cost_per_token_above_{price.exact_up_to}_tokens"] = "0"
    return json.dumps(models)
