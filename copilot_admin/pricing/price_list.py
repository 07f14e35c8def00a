"""Published prices and context windows of models, from the list in the package genai-prices."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from copilot_admin.agent.providers.clouds import AzureOpenAI, Bedrock, Vertex
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.models import Action, ModelPrice, Provider
from copilot_admin.models.pricing import PRICE
from copilot_admin.pricing.prices import Price, clear_price_cache_on_change

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, TieredPrices

PRICE_STEP = Decimal(1).scaleb(-PRICE["decimal_places"])
VENDORS = {AzureOpenAI.kind: "azure", Bedrock.kind: "aws", Vertex.kind: "google"}


def find_listed_model(provider: Provider, model: str) -> "ModelInfo | None":
    """Return the entry of a model at its vendor; None for servers that the list doesn't have."""
    from genai_prices.data_snapshot import get_snapshot  # 23 MB, of use on a few pages only

    url = provider.base_url or None
    vendor = VENDORS.get(provider.kind)
    if not (vendor or url):
        return None
    name = model.removeprefix("models/").removeprefix("google/")  # as Gemini and Vertex list them
    for candidate in dict.fromkeys((model, name)):
        try:
            return get_snapshot().find_provider_model(candidate, None, vendor, url)[1]
        except LookupError:
            continue
    return None


def build_list_price(entry: "ModelInfo", *, at: datetime) -> Price | None:
    """Return the price of an entry; None if its tokens have none.

    Costs are exact up to the first tier, and estimates if requests or times of the day matter too.
    """
    listed = entry.get_prices(at)
    amounts: dict[str, Decimal] = {}
    limits: list[int] = []
    for kind, unit in (("input", "input"), ("cached", "cache_read"), ("output", "output")):
        value: Decimal | TieredPrices | None = getattr(listed, f"{unit}_mtok", None)
        if value is None:
            continue
        if not isinstance(value, Decimal):
            limits += [tier.start for tier in value.tiers]
            value = value.base
        amounts[kind] = value.quantize(PRICE_STEP)
    if not (amounts.get("input") and amounts.get("output")):
        return None
    conditions = entry.prices if isinstance(entry.prices, list) else ()
    if getattr(listed, "requests_kcount", None) or any(
        hasattr(one.constraint, "start_time") for one in conditions
    ):
        limits.append(0)
    # Vendors charge reasoning tokens as output.
    return Price(**amounts, reasoning=amounts["output"], exact_up_to=min(limits, default=None))


def add_list_prices(provider: Provider, models: Iterable[str], *, by: Actor) -> int:
    """Give models without a price their published one from today on; return their number."""
    now = datetime.now(UTC)
    priced = set(provider.prices.values_list("model", flat=True))
    prices = {
        model: asdict(price)
        for model in models
        if model not in priced
        and (entry := find_listed_model(provider, model))
        and (price := build_list_price(entry, at=now))
    }
    if not prices:
        return 0
    fields = {"provider": provider, "valid_from": now.date(), "note": _("Published price")}
    rows = [ModelPrice(model=model, **fields, **price) for model, price in prices.items()]
    with transaction.atomic():
        ModelPrice.objects.bulk_create(rows, ignore_conflicts=True)
        clear_price_cache_on_change()
        after = {"from": now.date(), **prices}
        record(Action.IMPORTED, by=by, on=Subject.of(provider), after=after)
    return len(rows)
