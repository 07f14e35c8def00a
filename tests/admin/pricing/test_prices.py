"""Operators say what models cost, and see what has no price."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.models import ModelPrice, Provider
from tests.admin.pages import errors_of
from tests.factories import make_copilot, make_provider, make_published, make_user
from tests.pricing.pricing import make_price

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/modelprice/"
ADD = f"{LIST}add/"
PUBLISHED = f"{LIST}published/"


@pytest.fixture
def cloud() -> Provider:
    return make_provider(name="Cloud", kind="openai_compatible")


def values(**changes: Any) -> dict[str, Any]:
    return {
        "model": " gpt ",
        "valid_from": "2026-06-01",
        "input": "0.000001",
        "output": "8",
        "cached": "",
        "reasoning": "",
        "exact_up_to": "",
        "note": "",
        **changes,
    }


def test_a_price_is_added(operator: Client, cloud: Provider):
    response = operator.post(ADD, values(provider=cloud.pk, cached="0"))
    assert response.status_code == 302
    names = ("model", "valid_from", "input", "cached", "output", "reasoning")
    assert ModelPrice.objects.filter(provider=cloud).values_list(*names).get() == (
        "gpt",
        date(2026, 6, 1),
        Decimal("0.000001"),
        0,
        8,
        None,
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"input": "-1"},
        {"output": ""},
        {"cached": "NaN"},
        {"input": "0.0000001"},
        {"input": "100000.1"},
        {"model": " "},
        {"valid_from": "soon"},
    ],
)
def test_what_is_no_price_is_refused_and_stays_on_the_page(
    operator: Client, cloud: Provider, changes: dict[str, str]
):
    response = operator.post(ADD, values(**{"provider": cloud.pk, **changes}))
    assert list(errors_of(response)) == list(changes)
    assert not cloud.prices.exists()


@pytest.mark.database
def test_the_list_says_which_price_is_valid(operator: Client):
    provider = make_price(valid_from=date(2026, 1, 1), input=Decimal("0.15")).provider
    make_price(provider, valid_from=date(2026, 6, 1), cached=Decimal(0))
    make_price(provider, valid_from=timezone.now().date() + timedelta(days=1))
    page = operator.get(LIST, {"q": "gpt"})
    text = page.content.decode()
    assert [text.count(f"ca-chip--{tone}") for tone in ("info", "good")] == [1, 1]
    assert "$0.15" in text
    assert "$0<" in text
    counts = [
        len(operator.get(LIST, {"status": one}).context["cl"].result_list)
        for one in ("past", "later", "now", "nonsense")
    ]
    assert counts == [1, 1, 1, 3]


@pytest.mark.database
def test_models_in_use_without_a_price_are_named_with_a_link(operator: Client, cloud: Provider):
    make_price(cloud, model="priced")
    make_price(cloud, model="tomorrow", valid_from=timezone.now().date() + timedelta(days=1))
    make_copilot(name="News", provider=cloud, model="priced", model_choices=[{"id": "a&b"}])
    live = make_published(name="Live", provider=cloud, model="old")
    type(live).objects.filter(pk=live.pk).update(model="tomorrow")
    web = {"key": "web", "name": "Web", "model": "searching", "provider": "Other"}
    other = make_provider(name="Other", kind="openai_compatible")
    make_copilot(name="Web", provider=cloud, model="priced", custom_features=[web])
    page = operator.get(LIST)
    assert [(one.provider, one.model, one.copilots) for one in page.context["unpriced"]] == [
        (cloud, "a&b", ("News",)),
        (cloud, "old", ("Live",)),
        (cloud, "tomorrow", ("Live",)),
        (other, "searching", ("Web",)),
    ]
    assert f"add/?provider={cloud.pk}&amp;model=a%26b" in page.content.decode()


def test_who_may_only_look_adds_nothing(client: Client, cloud: Provider):
    from django.contrib.auth.models import Permission

    user = make_user()
    user.user_permissions.add(Permission.objects.get(codename="view_modelprice"))
    client.force_login(user)
    page = client.get(LIST)
    assert page.status_code == 200
    assert "published/" not in page.content.decode()
    assert client.get(ADD).status_code == client.post(PUBLISHED).status_code == 403


@pytest.mark.parametrize(("model", "level"), [("gpt-4o", "info"), ("our-fine-tune", "warning")])
def test_published_prices_are_added_for_models_in_use(operator: Client, model: str, level: str):
    provider = make_provider(kind="openai_compatible", base_url="https://api.openai.com/v1")
    make_copilot(provider=provider, model=model)
    response = operator.post(PUBLISHED, follow=True)
    assert [message.level_tag for message in response.context["messages"]] == [level]
    assert provider.prices.filter(model=model).exists() is (level == "info")
