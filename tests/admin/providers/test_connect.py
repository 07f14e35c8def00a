"""Connecting and checking providers; a stored key goes nowhere new."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, ClassVar

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.providers import connect
from copilot_admin.admin.providers.form import ProviderForm
from copilot_admin.admin.providers.presets import PRESETS
from copilot_admin.agent.providers import registry
from copilot_admin.agent.values.model_call import ALIVE, Alive, Delta, Finish, ModelCall, TextDelta
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.copilots.providers import api_key_of, set_api_key
from copilot_admin.errors import ProviderRefused
from copilot_admin.models import AuditEntry, ModelPrice, Provider
from tests.factories import make_provider

pytestmark = pytest.mark.django_db
CONNECT = reverse("admin:copilot_admin_provider_connect")
CHECK = reverse("admin:copilot_admin_provider_check")
CANARY = "sk-canary-0123456789abcdef-WXYZ"
FORM = {"kind": "scripted", "base_url": "https://api.example.com/v1", "tool_calling": "native"}
VARIABLE = "COPILOT_KEY_DESK"
HTMX = {"HX-Request": "true"}


class Scripted:
    """A provider that does what the test says."""

    kind: ClassVar[str] = "scripted"
    label: ClassVar[str] = "Scripted"
    offered: ClassVar[tuple[str, ...]] = ("m-1", "m-2")
    error: ClassVar[ProviderRefused | None] = None
    is_silent: ClassVar[bool] = False

    def __init__(self, spec: ProviderSpec) -> None:
        self.spec = spec

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]:
        if self.error:
            raise self.error
        if self.is_silent:
            await asyncio.Event().wait()
        for delta in (ALIVE, TextDelta("ready"), Finish("stop")):
            yield delta

    async def models(self) -> tuple[str, ...]:
        if self.error:
            raise self.error
        return self.offered


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[ProviderSpec]:
    """The specs of the providers that were called; each lists two models and answers."""
    specs: list[ProviderSpec] = []

    class Heard(Scripted):
        def __init__(self, spec: ProviderSpec) -> None:
            super().__init__(spec)
            specs.append(spec)

    monkeypatch.setattr(registry, "PROVIDERS", (Heard, *registry.PROVIDERS[1:]))
    monkeypatch.setattr(Heard, "kind", "openai_compatible")
    return specs


def check(client: Client, provider: Provider | None = None, **values: Any) -> Any:
    query = f"?id={provider.pk}" if provider else ""
    form = {**FORM, "kind": "openai_compatible", **values}
    response = client.post(CHECK + query, form)
    assert response.status_code == 200
    return response.context["result"]


def saved(**changes: Any) -> Provider:
    values = {"kind": "openai_compatible", "base_url": "https://api.example.com/v1"}
    provider = make_provider(**{**values, **changes})
    set_api_key(provider, CANARY)
    return provider


def test_one_step_tests_fetches_the_models_and_saves(
    operator: Client, asked: list[ProviderSpec]
) -> None:
    page = operator.post(CONNECT, {"vendor": "OpenAI", "api_key": CANARY}, headers=HTMX)
    provider = Provider.objects.get()
    assert (provider.name, provider.base_url) == ("OpenAI", "https://api.openai.com/v1")
    assert api_key_of(provider) == CANARY
    assert provider.model_ids == ["m-1", "m-2"]
    assert (provider.check_error, provider.checked_at is None) == ("", False)
    assert page["HX-Retarget"] == "#connect-drawer"
    assert page.context["result"].model == "m-1"
    assert [row.id for row in page.context["models"]] == ["m-1", "m-2"]
    assert CANARY not in page.content.decode()
    assert {"tested", "added"} <= {entry.action for entry in AuditEntry.objects.all()}
    again = operator.post(CONNECT, {"vendor": "OpenAI", "api_key": CANARY})
    assert again.context["provider"].name == "OpenAI 2"


def test_a_failed_connection_shows_the_words_of_the_provider_and_saves_nothing(
    operator: Client, asked: list[ProviderSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "The key was rejected. The copilot's owner must enter a valid one."
    error = ProviderRefused(said, detail="HTTP 401: Incorrect API key")
    monkeypatch.setattr(Scripted, "error", error)
    page = operator.post(CONNECT, {"vendor": "OpenAI", "api_key": "sk-wrong"}, headers=HTMX)
    assert 'data-check="failed"' in page.content.decode()
    assert "Incorrect API key" in page.content.decode()
    assert "owner" not in page.content.decode()  # that is the reader
    assert "sk-wrong" not in page.content.decode()
    assert not Provider.objects.exists()


@pytest.mark.parametrize(("typed", "works"), [("", False), ("my-model", True)])
def test_a_server_that_lists_no_chat_model_needs_the_name_of_one(
    operator: Client, asked: list[ProviderSpec], monkeypatch: pytest.MonkeyPatch,
    typed: str, works: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr(Scripted, "offered", ("desk-embed-1",))
    values = {"vendor": "Other", "base_url": "http://127.0.0.1:9/v1", "test_model": typed}
    page = operator.post(CONNECT, values, headers=HTMX)
    assert page.context["result"].needs_model is not works
    assert Provider.objects.exists() is works


def test_every_vendor_has_a_form_that_fits(operator: Client) -> None:
    for preset in PRESETS:
        page = operator.get(CONNECT, {"vendor": preset.name}, headers=HTMX)
        names = [field.name for field in page.context["fields"]]
        assert names == list(preset.fields)
        data = connect.build_connect_data(preset)
        assert ProviderForm(data).is_valid() or "RESOURCE" in preset.base_url


def test_the_page_to_add_a_provider_starts_with_the_vendors(operator: Client) -> None:
    url = reverse("admin:copilot_admin_provider_add")
    shown = tuple(operator.get(url).context["presets"])
    assert shown[: len(PRESETS)] == PRESETS
    assert "adminform" in operator.get(f"{url}?full=1").context


def test_a_check_uses_the_form_and_saves_nothing(
    operator: Client, asked: list[ProviderSpec]
) -> None:
    result = check(operator, api_key="sk-typed", test_model="m-9", first_token="7")
    assert (result.error, result.model) == ("", "m-9")
    assert (asked[0].base_url, asked[0].api_key) == ("https://api.example.com/v1", "sk-typed")
    assert asked[0].timeouts.first_token == 7
    assert not Provider.objects.exists()


@pytest.mark.parametrize(
    ("values", "key", "is_recorded"),
    [
        ({}, CANARY, True),
        ({"base_url": "https://api.example.com/v2"}, CANARY, False),
        ({"base_url": "https://other.example.com/v1"}, "", False),
        ({"clear_key": "on"}, "", False),
        ({"api_key": "sk-typed"}, "sk-typed", False),
        ({"base_url": "https://other.example.com/v1", "api_key": "sk-typed"}, "sk-typed", False),
    ],
)
def test_a_stored_key_is_sent_only_to_its_server(
    operator: Client, asked: list[ProviderSpec], values: dict[str, str], key: str, is_recorded: bool
) -> None:
    provider = saved()
    check(operator, provider, name=provider.name, **values)
    assert [spec.api_key for spec in asked] == [key]
    before = provider.api_key_cipher
    provider.refresh_from_db()
    assert (provider.base_url, provider.api_key_cipher) == ("https://api.example.com/v1", before)
    assert bool(provider.model_ids) is is_recorded


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
    is_saved: bool, values: dict[str, str], keys: list[str],
) -> None:  # fmt: skip
    monkeypatch.setenv(VARIABLE, CANARY)
    provider = None
    if is_saved:
        url = "https://api.example.com/v1"
        provider = make_provider(kind="openai_compatible", base_url=url, api_key_env=VARIABLE)
    result = check(operator, provider, **{"name": "Desk", "api_key_env": VARIABLE, **values})
    assert [spec.api_key for spec in asked] == keys
    assert bool(result.error) is not bool(keys)


def test_a_stored_key_that_is_deleted_is_not_replaced_by_the_environment(
    operator: Client, asked: list[ProviderSpec], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, CANARY)
    provider, url = saved(), "https://other.example.com/v1"
    values = {"name": provider.name, "api_key_env": VARIABLE, "base_url": url}
    assert check(operator, provider, **values).error
    assert asked == []


def test_models_come_with_context_and_price() -> None:
    provider = make_provider()
    for model, price in (("gpt-4.1", "2"), ("local", "0"), ("odd", "0.0375")):
        ModelPrice.objects.create(
            provider=provider, model=model, input=price, output=price, valid_from="2020-01-01"
        )
    names = ("gpt-4.1", "local", "odd", "new", "text-embedding-3-small")
    rows = {row.id: row for row in connect.build_model_rows(provider, names)}
    assert list(rows) == ["gpt-4.1", "local", "odd", "new"]
    gpt = rows["gpt-4.1"]
    assert (gpt.context, gpt.price, gpt.has_vision, gpt.has_tools) == (
        "1M", "$2 / $2", True, True,
    )  # fmt: skip
    assert rows["local"].is_free
    assert rows["odd"].price == "$0.0375 / $0.0375"
    assert (rows["new"].price, rows["new"].context) == ("", "")
