"""Reads a file of prices in the form that LiteLLM publishes; nothing here touches the database.

Source: model_prices_and_context_window.json of BerriAI/litellm: an object by model, with the cost of one
token in US dollars under each kind, the provider under `litellm_provider`, and what a model is for
under `mode`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
import json
from typing import Any

from django.utils.translation import gettext as _

from copilot_admin.errors import ConfigurationError
from copilot_admin.models.prices import HIGHEST, PRICE_PLACES, PRICED_TOKENS
from copilot_admin.pricing.cost import Price
from protocol.json_tokens import has_more_tokens
from protocol.strict_json import MAX_TOKENS

MOST_BYTES = 20 * 1024 * 1024  # the published file has 3
MOST_MODELS = 20_000
LONGEST_MODEL = 200
LONGEST_LIMIT = 6  # digits; a million thousand tokens are more than any model reads
# Of other modes (images, speech, search) tokens are not what is paid for.
_MODES = frozenset({"chat", "completion", "responses"})
_KINDS = {
    "input": "input_cost_per_token",
    "cached": "cache_read_input_token_cost",
    "output": "output_cost_per_token",
    "reasoning": "output_cost_per_reasoning_token",
}
_OTHER_KEYS = {"cached": "input_cost_per_token_cache_hit"}  # where the usual one is not given
# What is paid besides tokens, or of other tokens at other times: a cost by tokens alone is a guess.
_BESIDES = ("input_cost_per_request", "off_peak_pricing")
_EXAMPLE = "sample_spec"
_STEP = Decimal(1).scaleb(-PRICE_PLACES)


class BadPriceFile(ConfigurationError):
    """A file that is none of prices."""


class _BadEntry(Exception):
    """An entry that is not taken; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceEntry:
    """The price of one model in a file; `vendor` is who sells it, as LiteLLM says."""

    key: str
    vendor: str
    price: Price

    @property
    def name(self) -> str:
        """The model without the name of its vendor, which some keys begin with.

        Some vendors sell in parts: `vertex_ai/codestral-2` is of `vertex_ai-mistral_models`.
        """
        start, _slash, rest = self.key.partition("/")
        is_vendor = (
            bool(start and rest) and self.vendor.partition("-")[0] == start.partition("-")[0]
        )
        return rest if is_vendor and self.vendor.startswith(start) else self.key

    @property
    def names(self) -> tuple[str, ...]:
        """How a provider may call it, the likeliest first."""
        _vendor, _slash, rest = self.key.partition("/")
        return tuple(dict.fromkeys(filter(None, (self.key, self.name, rest))))


@dataclass(frozen=True, slots=True)
class Skipped:
    """An entry that is not taken, and why."""

    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class PriceFile:
    """The entries of a price file, and what of it was skipped."""

    entries: tuple[PriceEntry, ...]
    skipped: tuple[Skipped, ...]

    @property
    def vendors(self) -> tuple[str, ...]:
        """The vendors whose models the file has, in order."""
        return tuple(sorted({entry.vendor for entry in self.entries} - {""}))


def read_prices(data: bytes) -> PriceFile:
    """Reads the prices of models out of the file that LiteLLM publishes.

    Raises:
        BadPriceFile: It is no such file; of single entries it is said why they are skipped.
    """
    entries: list[PriceEntry] = []
    skipped: list[Skipped] = []
    for key, value in _models(data).items():
        try:
            entries.append(_entry(key, value))
        except _BadEntry as error:
            skipped.append(Skipped(_shown(key)[:LONGEST_MODEL], str(error)))
    if not entries:
        raise BadPriceFile(
            _(
                "No model in this file has prices per token. Choose LiteLLM's "
                "model_prices_and_context_window.json, or a file of its form."
            )
        )
    return PriceFile(tuple(entries), tuple(skipped))


def _models(data: bytes) -> Mapping[str, Any]:
    if len(data) > MOST_BYTES:
        raise BadPriceFile(_("The file is larger than 20 MB. LiteLLM's has some 3."))
    if has_more_tokens(data, MAX_TOKENS):  # small objects take 25 times the memory of their bytes
        raise BadPriceFile(_("The file holds more values than a file of prices has."))
    try:
        # Numbers stay the texts that they are until it is known that they are prices.
        models = json.loads(
            data.decode("utf-8-sig"), parse_float=str, parse_int=str, parse_constant=str
        )
    except UnicodeDecodeError as error:
        raise BadPriceFile(_("The file is no text in UTF-8.")) from error
    except json.JSONDecodeError as error:
        sentence = _("The file is no JSON: line %(line)d, column %(column)d.")
        raise BadPriceFile(sentence % {"line": error.lineno, "column": error.colno}) from error
    except RecursionError as error:
        raise BadPriceFile(_("The file is no file of prices: it is nested too deeply.")) from error
    if not isinstance(models, dict):
        raise BadPriceFile(
            _("The file is no file of prices: it has to be an object with a key for each model.")
        )
    if len(models) > MOST_MODELS:
        raise BadPriceFile(_("The file names more than 20,000 models."))
    return models


def _entry(key: str, value: object) -> PriceEntry:
    if key == _EXAMPLE:
        raise _BadEntry(_("It is the example in the file."))
    if not key.strip() or len(key) > LONGEST_MODEL or not key.isprintable():
        raise _BadEntry(_("It is no name of a model."))
    if not isinstance(value, dict):
        raise _BadEntry(_("It has no prices."))
    mode = value.get("mode")
    if mode is not None and not (isinstance(mode, str) and mode in _MODES):
        raise _BadEntry(_("It is not for text (mode %(mode)s).") % {"mode": _shown(str(mode)[:40])})
    vendor = value.get("litellm_provider")
    return PriceEntry(
        key=key,
        vendor=_shown(vendor[:LONGEST_MODEL]) if isinstance(vendor, str) else "",
        price=_price(value),
    )


def _shown(text: str) -> str:
    """A text of a stranger as terminals and pages may have it: nothing in it steers them."""
    return "".join(one if one.isprintable() else "\ufffd" for one in text)


def _price(entry: Mapping[str, Any]) -> Price:
    value = _without_tiers(entry)
    found = {kind: _dollars(value.get(key), key) for kind, key in _KINDS.items()}
    for kind, key in _OTHER_KEYS.items():
        if found[kind] is None:
            found[kind] = _dollars(value.get(key), key)
    given, made = found["input"], found["output"]
    if given is None or made is None:
        raise _BadEntry(_("It has no prices per token of input and output."))
    return Price(
        input=given,
        output=made,
        cached=found["cached"],
        reasoning=found["reasoning"],
        exact_up_to=min(_limits(value), default=None),
    )


def _without_tiers(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of prices in tiers by the length of a prompt, those of the shortest, and where they end.

    Some vendors state them under keys of the entry, others as a list of objects with a `range`.
    """
    tiers = entry.get("tiered_pricing")
    found = [one for one in tiers if isinstance(one, dict)] if isinstance(tiers, list) else []
    by_start = sorted((_range(one), place) for place, one in enumerate(found))
    if not by_start:
        return entry
    (_start, end), place = by_start[0]
    limits = {f"input_cost_per_token_above_{end}_tokens": "0"} if len(found) > 1 and end else {}
    return {**entry, **limits, **found[place]}


def _range(tier: Mapping[str, Any]) -> tuple[int, int]:
    """Above how many tokens a tier begins, and where it ends; 0: nowhere."""
    ends = tier.get("range")
    given = ends if isinstance(ends, list) else []
    numbers = [_number(one) or Decimal(0) for one in given[:2]]
    start, end, *_rest = [*(int(min(max(one, 0), 10**LONGEST_LIMIT - 1)) for one in numbers), 0, 0]
    return start, end


def _dollars(value: object, key: str) -> Decimal | None:
    """The price of a million tokens; None where there is none."""
    if value is None:
        return None
    number = _number(value)
    if number is None or number < 0:
        raise _BadEntry(_("%(key)s is no price.") % {"key": key})
    if number > Decimal(HIGHEST) / PRICED_TOKENS:
        raise _BadEntry(
            _("%(key)s is more than %(most)s dollars for a million tokens.")
            % {"key": key, "most": f"{HIGHEST:,}"}
        )
    # What is finer than that is noise of a computer's fractions: 2.0000000000000002e-07.
    price = abs(number * PRICED_TOKENS).quantize(_STEP)
    if number and not price:
        raise _BadEntry(_("%(key)s is too small to be a price.") % {"key": key})
    return price


def _number(value: object) -> Decimal | None:
    if not isinstance(value, str) or len(value) > 60:
        return None
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _limits(value: Mapping[str, Any]) -> Iterator[int]:
    """Above how many tokens other prices begin."""
    if any(value.get(key) and _number(value[key]) != 0 for key in _BESIDES):
        yield 0
    for key, price in value.items():
        limit = _limit(key)
        if limit is not None and price is not None:
            yield limit


def _limit(key: str) -> int | None:
    """The number in `input_cost_per_token_above_200k_tokens`."""
    start, _above, rest = key.rpartition("_above_")
    number = rest.removesuffix("_tokens")
    digits = number.removesuffix("k")
    is_one = digits.isascii() and digits.isdecimal() and len(digits) <= LONGEST_LIMIT
    if "_cost" not in start or number == rest or not is_one:
        return None
    return int(digits) * (1 if digits == number else 1000)


def written(prices: Mapping[str, Price]) -> str:
    """Prices by model as a file; `read_prices` gives them back."""
    return json.dumps({model: dict(_keys_of(price)) for model, price in prices.items()})


def _keys_of(price: Price) -> Iterator[tuple[str, str]]:
    for kind, key in _KINDS.items():
        amount: Decimal | None = getattr(price, kind)
        if amount is not None:
            yield key, f"{amount / PRICED_TOKENS:f}"
    if price.exact_up_to is not None:
        thousands, rest = divmod(price.exact_up_to, 1000)
        limit = str(price.exact_up_to) if rest else f"{thousands}k"
        yield f"input_cost_per_token_above_{limit}_tokens", "0"
