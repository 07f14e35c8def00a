"""A provider is tried as its form stands: nothing typed is lost, and a stored key goes nowhere new."""

from typing import Any

from django.core.cache import cache
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.agent.providers import registry
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.config.roles import Role
from copilot_admin.copilots.providers import set_api_key
from copilot_admin.errors import ProviderRefused
from copilot_admin.models import Provider
from tests.admin.providers.test_providers import CANARY, Scripted
from tests.factories import make_provider, make_user

pytestmark = pytest.mark.django_db
TEST = reverse("admin:copilot_admin_provider_test_form")
MODELS = reverse("admin:copilot_admin_provider_models_form")
FORM = {"name": "", "kind": "scripted", "base_url": "https://api.example.com/v1"}


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make_user(Role.OPERATORS))
    cache.clear()
    return client


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ProviderSpec]:
    """The providers that are asked; they answer with two models and a word."""
    specs: list[ProviderSpec] = []

    class Heard(Scripted):
        def __init__(self, spec: ProviderSpec) -> None:
            super().__init__(spec)
            specs.append(spec)

    monkeypatch.setattr(registry, "PROVIDERS", (*registry.PROVIDERS, Heard))
    return specs


def saved(**changes: Any) -> Provider:
    provider = make_provider(
        **{"kind": "scripted", "base_url": "https://api.example.com/v1", **changes}
    )
    set_api_key(provider, CANARY)
    return provider


def tell(client: Client, address: str, provider: Provider | None = None, **values: Any) -> Any:
    query = f"?id={provider.pk}" if provider else ""
    response = client.post(address + query, {**FORM, "tool_calling": "native", **values})
    assert response.status_code == 200
    return response.json()


def test_a_provider_that_is_not_saved_yet_is_tried(
    operator: Client, asked: list[ProviderSpec]
) -> None:
    answer = tell(operator, TEST, api_key="sk-typed", model="m-9", first_token="7")
    assert answer["is_good"]
    assert answer["sentence"].startswith("Working: m-9 answered, first text after ")
    assert (asked[0].base_url, asked[0].api_key) == ("https://api.example.com/v1", "sk-typed")
    assert asked[0].timeouts.first_token == 7
    assert not Provider.objects.exists()


def test_its_models_are_listed_and_kept_for_nobody(
    operator: Client, asked: list[ProviderSpec]
) -> None:
    assert tell(operator, MODELS) == {
        "is_good": True,
        "sentence": "2 models found.",
        "models": ["m-1", "m-2"],
    }


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({}, CANARY),
        ({"base_url": "https://api.example.com/v2"}, CANARY),
        ({"base_url": "https://other.example.com/v1"}, ""),
        ({"clear_key": "on"}, ""),
        ({"api_key": "sk-typed"}, "sk-typed"),
        ({"base_url": "https://other.example.com/v1", "api_key": "sk-typed"}, "sk-typed"),
    ],
)
def test_a_stored_key_goes_where_it_went_and_nowhere_else(
    operator: Client, asked: list[ProviderSpec], values: dict[str, str], key: str
) -> None:
    provider = saved()
    tell(operator, TEST, provider, name=provider.name, **values)
    assert [spec.api_key for spec in asked] == [key]
    before = provider.api_key_cipher
    provider.refresh_from_db()
    assert (provider.base_url, provider.api_key_cipher) == ("https://api.example.com/v1", before)


VARIABLE = "COPILOT_KEY_DESK"
SAVE_FIRST = (
    f"The key in {VARIABLE} is sent only to servers with which a provider was saved. "
    "Save this provider first, or enter its key."
)


@pytest.mark.parametrize("address", [TEST, MODELS])
@pytest.mark.parametrize(
    ("is_saved", "values", "keys"),
    [
        (True, {}, [CANARY]),
        (True, {"base_url": "https://api.example.com/v2"}, [CANARY]),
        (True, {"base_url": "http://api.example.com/v1"}, []),
        (True, {"base_url": "https://api.example.com:8443/v1"}, []),
        (True, {"base_url": "https://other.example.com/v1"}, []),
        (True, {"base_url": "https://other.example.com/v1", "api_key": "sk-typed"}, ["sk-typed"]),
        (False, {}, []),
        (False, {"api_key": "sk-typed"}, ["sk-typed"]),
    ],
)
def test_a_key_of_the_environment_goes_only_where_a_saved_provider_sends_it(
    operator: Client, asked: list[ProviderSpec], monkeypatch: pytest.MonkeyPatch,
    address: str, is_saved: bool, values: dict[str, str], keys: list[str],
) -> None:  # fmt: skip
    monkeypatch.setenv(VARIABLE, CANARY)
    provider = None
    if is_saved:
        url = "https://api.example.com/v1"
        provider = make_provider(kind="scripted", base_url=url, api_key_env=VARIABLE)
    answer = tell(
        operator, address, provider, **{"name": "Desk", "api_key_env": VARIABLE, **values}
    )
    assert [spec.api_key for spec in asked] == keys
    assert answer["is_good"] is bool(keys)
    if not keys:
        assert answer["sentence"] == SAVE_FIRST


def test_a_stored_key_that_is_forgotten_is_not_replaced_by_the_environment(
    operator: Client, asked: list[ProviderSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    provider, url = saved(), "https://other.example.com/v1"
    values = {"name": provider.name, "api_key_env": VARIABLE, "base_url": url}
    assert tell(operator, TEST, provider, **values)["sentence"] == SAVE_FIRST
    assert asked == []


def test_another_saved_provider_with_the_same_variable_vouches_for_its_server(
    operator: Client, asked: list[ProviderSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    make_provider(kind="scripted", base_url="https://api.example.com/v2", api_key_env=VARIABLE)
    assert tell(operator, TEST, api_key_env=VARIABLE)["is_good"]


@pytest.mark.parametrize("address", [TEST, MODELS])
def test_what_is_wrong_in_the_form_is_said_and_nobody_is_asked(
    operator: Client, asked: list[ProviderSpec], address: str
) -> None:
    answer = tell(operator, address, base_url="ftp://x", total="0")
    assert not answer["is_good"]
    assert answer["sentence"] == (
        "Mend this first. Address: Write the whole address: https://api.example.com/v1 or "
        "http://127.0.0.1:9100/v1 For a whole answer: Ensure this value is greater than or equal "
        "to 0.1."
    )
    assert asked == []


def test_what_the_provider_says_is_told(
    operator: Client, asked: list[ProviderSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scripted, "error", ProviderRefused("The key was refused."))
    assert tell(operator, MODELS)["sentence"] == "The key was refused."
    assert tell(operator, TEST, model="m")["sentence"] == "Not working: The key was refused."
