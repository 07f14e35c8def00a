"""Operators say what models cost, see what has no price, and import prices."""

from datetime import date, timedelta
from decimal import Decimal
import json
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.models import ModelPrice, Provider
from tests.admin.pages import errors_of, messages_of
from tests.factories import make_copilot, make_provider, make_published, make_user
from tests.pricing.pricing import make_price

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/modelprice/"
ADD = f"{LIST}add/"
IMPORT = f"{LIST}import/"
HOSTILE = "<script>alert(1)</script>"
GOOD = {"input_cost_per_token": 2e-06, "output_cost_per_token": 8e-06}


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


def upload(operator: Client, provider: Provider, models: Any, **changes: Any) -> Any:
    data = models if isinstance(models, bytes) else json.dumps(models).encode()
    fields = {"provider": provider.pk, "day": "2026-06-01", "vendor": "", **changes}
    return operator.post(IMPORT, {**fields, "file": SimpleUploadedFile("prices.json", data)})


def test_an_import_shows_what_it_would_change_and_then_does_it(operator: Client, cloud: Provider):
    make_price(cloud, model="changed", input=Decimal(9))
    make_price(cloud, model="same")
    models = {"changed": GOOD, "same": GOOD, "new": GOOD, HOSTILE: {"mode": HOSTILE}}
    page = upload(operator, cloud, models)
    text = page.content.decode()
    assert 'data-new="1" data-changed="1" data-same="1"' in text
    assert "$2 in, $8 out" in text
    assert "$9 in, $8 out" in text
    assert HOSTILE not in text
    assert cloud.prices.count() == 2
    values = {name: str(page.context["form"].initial[name]) for name in ("provider", "day", "text")}
    done = operator.post(IMPORT, values, follow=True)
    assert len(messages_of(done)) == 1
    rows = cloud.prices.filter(valid_from=date(2026, 6, 1)).values_list("model", "input", "output")
    assert set(rows) == {(model, Decimal(2), Decimal(8)) for model in ("changed", "new")}


@pytest.mark.parametrize("data", [b"", b"[]", b"{"])
def test_a_file_that_is_none_is_refused_in_words(operator: Client, cloud: Provider, data: bytes):
    page = upload(operator, cloud, data)
    assert list(page.context["form"].errors) == ["file"]


def test_who_may_only_look_imports_nothing(client: Client, cloud: Provider):
    from django.contrib.auth.models import Permission

    user = make_user()
    user.user_permissions.add(Permission.objects.get(codename="view_modelprice"))
    client.force_login(user)
    page = client.get(LIST)
    assert page.status_code == 200
    assert "import/" not in page.content.decode()
    assert client.get(IMPORT).status_code == client.post(IMPORT, {"text": "{}"}).status_code == 403


@pytest.mark.parametrize(("model", "level"), [("gpt-4o", "info"), ("our-fine-tune", "warning")])
def test_published_prices_are_added_for_models_in_use(operator: Client, model: str, level: str):
    provider = make_provider(kind="openai_compatible", base_url="https://api.openai.com/v1")
    make_copilot(provider=provider, model=model)
    response = operator.post(f"{LIST}published/", follow=True)
    assert [message.level_tag for message in response.context["messages"]] == [level]
    assert provider.prices.filter(model=model).exists() is (level == "info")
