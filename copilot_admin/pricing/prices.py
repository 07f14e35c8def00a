"""Prices of models: a cached lookup, models that lack one, and the price of the demo model.

A change in this process applies at once. A change in another process is seen within seconds: a price
is read again after `CACHE_SECONDS`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from itertools import chain
import time
from typing import Any, NamedTuple

from django.db import transaction

from copilot_admin.agent.providers.demo import MODEL, DemoModel
from copilot_admin.models import Copilot, ModelPrice, Provider
from copilot_admin.models.copilots import PROVIDER_ROW_FIELDS

CACHE_SECONDS = 5.0
PRICE_FIELDS = ("input", "cached", "output", "reasoning", "exact_up_to")
_FIRST_DAY = date(2000, 1, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars for a million tokens."""

    input: Decimal
    output: Decimal
    cached: Decimal | None = None  # estimated as `input`
    reasoning: Decimal | None = None  # estimated as `output`
    exact_up_to: int | None = None  # input tokens above which the provider has other prices

    @property
    def is_free(self) -> bool:
        return not (self.input or self.output or self.cached or self.reasoning)


def get_price(provider: str, model: str, at: datetime) -> Price | None:
    """Return the price of a model; prices begin at midnight UTC. May read the database."""
    day = at.astimezone(UTC).date()
    history = _get_history(provider, model, time.monotonic() // CACHE_SECONDS)
    return next((price for begins, price in history if begins <= day), None)


@lru_cache(maxsize=1000)
def _get_history(provider: str, model: str, period: float) -> tuple[tuple[date, Price], ...]:
    rows = ModelPrice.objects.filter(provider__name=provider, model=model)
    return tuple((row.valid_from, build_price(row)) for row in rows.order_by("-valid_from"))


def build_price(row: ModelPrice) -> Price:
    return Price(**{name: getattr(row, name) for name in PRICE_FIELDS})


def clear_price_cache() -> None:
    """Make the next `get_price` read the database."""
    _get_history.cache_clear()


def clear_price_cache_on_change(**_: object) -> None:
    """Clear the cache now and after the commit: until then another thread may read the old rows."""
    clear_price_cache()
    transaction.on_commit(clear_price_cache)


def add_demo_price(*, instance: Provider, created: bool, raw: bool, **_: object) -> None:
    """Give a new demo provider its price of 0: a row that users see and may change."""
    if created and not raw and instance.kind == DemoModel.kind:
        free = dict.fromkeys(("input", "cached", "output", "reasoning"), Decimal(0))
        ModelPrice.objects.create(provider=instance, model=MODEL, valid_from=_FIRST_DAY, **free)


class UnpricedModel(NamedTuple):
    provider: Provider
    model: str
    copilots: tuple[str, ...]


def find_unpriced_models() -> tuple[UnpricedModel, ...]:
    """Find the models of drafts and live versions that have no price today, in four queries."""
    users: dict[tuple[int, str], set[str]] = defaultdict(set)
    providers = {provider.pk: provider for provider in Provider.objects.all()}
    ids = {provider.name.lower(): pk for pk, provider in providers.items()}
    for copilot, provider_id, document in _get_documents():
        for provider_name, model in _get_models(document):
            users[ids.get(provider_name.lower(), provider_id), model].add(copilot)
    today = datetime.now(UTC).date()
    rows = ModelPrice.objects.filter(valid_from__lte=today).order_by()
    priced = set(rows.values_list("provider_id", "model").distinct())
    found = [
        UnpricedModel(providers[pk], model, tuple(sorted(users[pk, model])))
        for pk, model in users.keys() - priced
    ]
    return tuple(sorted(found, key=lambda one: (one.provider.name, one.model)))


def _get_documents() -> Iterator[tuple[str, int, Mapping[str, Any]]]:
    columns = ("name", "provider_id", "model", "model_choices", *PROVIDER_ROW_FIELDS)
    copilots = Copilot.objects.filter(deletion_requested_at=None).order_by()
    for name, provider_id, model, choices, *rows in copilots.values_list(*columns):
        lists = zip(PROVIDER_ROW_FIELDS, rows, strict=True)
        yield name, provider_id, {"model": model, "models": choices, **dict(lists)}
    live = copilots.filter(live__isnull=False)
    yield from live.values_list("name", "live__provider_id", "live__document")


def _get_models(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if document.get("model"):
        yield "", document["model"]
    yield from (("", row["id"]) for row in document.get("models") or () if row.get("id"))
    for row in chain.from_iterable(document.get(field) or () for field in PROVIDER_ROW_FIELDS):
        if row.get("model"):
            yield row.get("provider") or "", row["model"]
