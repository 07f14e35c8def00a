"""Which price was valid when, and when it is read."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from copilot_admin.models import ModelPrice
from copilot_admin.pricing.prices import CACHE_SECONDS, clear_price_cache, get_price
from tests.factories import make_provider
from tests.pricing.pricing import make_price, price

pytestmark = [pytest.mark.database, pytest.mark.django_db]

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def test_the_price_that_began_last_is_valid():
    provider = make_price(input=Decimal(3)).provider
    make_price(provider, valid_from=date(2026, 6, 1), input=Decimal(2), cached=Decimal("0.25"))
    make_price(provider, valid_from=date(2027, 1, 1), input=Decimal(1))
    assert get_price(provider.name, "gpt", NOON) == price("2", "8", cached="0.25")
    assert get_price(provider.name, "gpt", NOON - timedelta(days=1)) == price("3", "8")


@pytest.mark.parametrize(
    ("at", "dollars"),
    [
        (datetime(2026, 5, 31, 23, 59, 59, 999_999, tzinfo=UTC), 3),
        (datetime(2026, 6, 1, tzinfo=UTC), 2),
        # The same moments, as a clock in Auckland or New York shows them.
        (datetime(2026, 6, 1, 11, 59, 59, tzinfo=timezone(timedelta(hours=12))), 3),
        (datetime(2026, 5, 31, 20, tzinfo=timezone(timedelta(hours=-4))), 2),
    ],
)
def test_a_price_begins_at_midnight_utc(at, dollars):
    provider = make_price(input=Decimal(3)).provider
    make_price(provider, valid_from=date(2026, 6, 1), input=Decimal(2))
    assert get_price(provider.name, "gpt", at).input == dollars


@pytest.mark.parametrize(
    ("provider", "model", "at"),
    [
        ("Known", "other", NOON),
        ("Other", "gpt", NOON),
        ("Known", "GPT", NOON),
        ("Known", "gpt", datetime(2025, 12, 31, 23, tzinfo=UTC)),
        ("", "", NOON),
    ],
)
def test_there_may_be_no_price(provider, model, at):
    make_price(make_provider(name="Known", kind="openai_compatible"))
    assert get_price(provider, model, at) is None


def test_what_is_changed_here_counts_at_once():
    row = make_price()
    name = row.provider.name
    assert get_price(name, "gpt", NOON).input == 2
    row.input = Decimal(4)
    row.save()
    assert get_price(name, "gpt", NOON).input == 4
    row.provider.name = "Renamed"
    row.provider.save()
    assert get_price(name, "gpt", NOON) is None
    assert get_price("Renamed", "gpt", NOON).input == 4
    row.delete()
    assert get_price("Renamed", "gpt", NOON) is None


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    clear_price_cache()
    return now


def elsewhere(**changes: object) -> None:
    """Another process changes all prices: nothing tells this one."""
    ModelPrice.objects.update(**changes)


def test_what_another_process_changes_is_seen_within_seconds(clock):
    row = make_price()
    assert get_price(row.provider.name, "gpt", NOON).input == 2
    elsewhere(input=Decimal(4), updated_at=NOON + timedelta(days=9999))
    clock[0] += CACHE_SECONDS - 0.001
    assert get_price(row.provider.name, "gpt", NOON).input == 2
    clock[0] += 0.001
    assert get_price(row.provider.name, "gpt", NOON).input == 4


def test_a_provider_that_demos_costs_nothing_because_its_price_says_so():
    provider = make_provider(kind="demo")
    found = get_price(provider.name, "demo", NOON)
    assert found == price("0", "0", cached="0", reasoning="0")
    provider.prices.all().delete()
    provider.save()
    assert get_price(provider.name, "demo", NOON) is None
