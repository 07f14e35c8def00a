"""Published prices: found by the vendor behind a provider, added where a model has none."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from copilot_admin.audit.recording import Actor
from copilot_admin.models import Provider
from copilot_admin.pricing.price_list import add_list_prices, build_list_price, find_listed_model
from tests.factories import make_provider
from tests.pricing.pricing import make_price

OPENAI = "https://api.openai.com/v1"


@pytest.mark.parametrize(
    ("kind", "base_url", "model"),
    [
        ("openai_compatible", OPENAI, "gpt-4o"),
        ("azure", "https://desk.openai.azure.com", "gpt-4o"),
        (
            "openai_compatible",
            "https://generativelanguage.googleapis.com/v1beta/openai",
            "models/gemini-2.5-pro",
        ),
        ("vertex", "", "google/gemini-2.5-pro"),
        ("bedrock", "", "anthropic.claude-3-5-sonnet-20241022-v2:0"),
        ("openai_compatible", "https://openrouter.ai/api/v1", "openai/gpt-4o"),
    ],
)
def test_a_model_of_a_known_vendor_has_a_price(kind: str, base_url: str, model: str):
    entry = find_listed_model(Provider(kind=kind, base_url=base_url), model)
    assert entry is not None
    price = build_list_price(entry, at=datetime.now(UTC))
    assert price is not None
    assert 0 < price.input < price.output == price.reasoning


@pytest.mark.parametrize(
    ("kind", "base_url", "model"),
    [
        ("openai_compatible", "http://127.0.0.1:11434/v1", "gpt-4o"),  # somebody's own server
        ("openai_compatible", OPENAI, "our-fine-tune"),
        ("demo", "", "demo"),
    ],
)
def test_other_models_have_none(kind: str, base_url: str, model: str):
    assert find_listed_model(Provider(kind=kind, base_url=base_url), model) is None


@pytest.mark.parametrize(
    ("base_url", "model", "exact_up_to"),
    [
        (OPENAI, "gpt-4o", None),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro", 200_000),
        ("https://api.perplexity.ai", "sonar-pro", 0),  # charges for each request too
    ],
)
def test_conditions_limit_exact_costs(base_url: str, model: str, exact_up_to: int | None):
    provider = Provider(kind="openai_compatible", base_url=base_url)
    entry = find_listed_model(provider, model)
    assert entry is not None
    price = build_list_price(entry, at=datetime.now(UTC))
    assert price is not None
    assert price.exact_up_to == exact_up_to


@pytest.mark.django_db
def test_prices_of_operators_stay():
    provider = make_provider(kind="openai_compatible", base_url=OPENAI)
    make_price(provider, model="gpt-4o", input=Decimal(1))
    models = ("gpt-4o", "gpt-4.1-mini", "our-fine-tune")
    assert add_list_prices(provider, models, by=Actor.command()) == 1
    assert provider.prices.get(model="gpt-4o").input == 1
    assert provider.prices.get(model="gpt-4.1-mini").input > 0
    assert add_list_prices(provider, models, by=Actor.command()) == 0
