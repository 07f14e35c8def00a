"""The prices of models, kept in memory: a run that ends reads no row for its price.

Prices are read model by model when they are first needed, and again when any price has changed. A
change in this process counts at once. One in another process is seen within `SEEN_AFTER` seconds: as
often as that the rows are asked when any of them was last changed.
"""

from datetime import UTC, date, datetime
from functools import lru_cache
import time
from typing import TypeAlias

from django.db import transaction
from django.db.models import Count, Max

from copilot_admin.models import ModelPrice, Provider
from copilot_admin.pricing.cost import Price

SEEN_AFTER = 5.0  # seconds
Stamp: TypeAlias = tuple[object, ...]
History: TypeAlias = tuple[tuple[date, Price], ...]


class _Changes:
    """When prices were last looked at, and what was seen."""

    def __init__(self) -> None:
        self._seen: tuple[float, Stamp] | None = None

    def stamp(self) -> Stamp:
        """What is different whenever a price, or the name of a provider, has changed."""
        now = time.monotonic()
        if self._seen is None or now - self._seen[0] >= SEEN_AFTER:
            self._seen = (now, _read_stamp())
        return self._seen[1]

    def forget(self) -> None:
        """Lets the rows be asked the next time."""
        self._seen = None


_CHANGES = _Changes()


def price_at(provider: str, model: str, at: datetime) -> Price | None:
    """The price of a model at a moment; None where there is none. May read the database.

    Args:
        provider: By name, as runs name it.
        model: By its id.
        at: Aware; the day is that of UTC.
    """
    day = at.astimezone(UTC).date()
    history = _history(provider, model, _CHANGES.stamp())
    return next((price for begins, price in history if begins <= day), None)


def prices_changed(**_: object) -> None:
    """Forgets what was read; called when a price or a provider is saved or deleted.

    Once more after the commit: until then another thread may have read what there was.
    """
    forget()
    transaction.on_commit(forget)


def forget() -> None:
    """Forgets the prices that were read, so that they are read anew."""
    _CHANGES.forget()
    _history.cache_clear()


def price_of(row: ModelPrice) -> Price:
    """The price that a row states."""
    return Price(
        input=row.input,
        output=row.output,
        cached=row.cached,
        reasoning=row.reasoning,
        exact_up_to=row.exact_up_to,
    )


@lru_cache(maxsize=4096)
def _history(provider: str, model: str, stamp: Stamp) -> History:
    """The prices of a model, the newest first; the stamp is only a part of the cache's key."""
    rows = ModelPrice.objects.filter(provider__name=provider, model=model)
    return tuple((row.valid_from, price_of(row)) for row in rows.order_by("-valid_from"))


def _read_stamp() -> Stamp:
    prices = ModelPrice.objects.aggregate(Count("pk"), Max("pk"), Max("updated_at"))
    providers = Provider.objects.aggregate(Count("pk"), Max("updated_at"))
    return (*prices.values(), *providers.values())
