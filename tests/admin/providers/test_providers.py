"""Operators set up providers: a key goes in and never comes out, and is bound to its address."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, ClassVar

from django.contrib.admin.models import LogEntry
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.providers import trial
from copilot_admin.agent.providers import registry
from copilot_admin.agent.values.model_call import (
    ALIVE,
    Alive,
    Delta,
    Finish,
    ModelCall,
    TextDelta,
)
from copilot_admin.agent.values.spec import ProviderSpec
from copilot_admin.config.roles import Role
from copilot_admin.copilots.providers import api_key_of, set_api_key
from copilot_admin.errors import ProviderRefused
from copilot_admin.models import Provider
from tests.admin.pages import messages_of, submit
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
ADD = "/admin/copilot_admin/provider/add/"
LIST = "/admin/copilot_admin/provider/"
FORM = "provider_form"
CANARY = "sk-canary-0123456789abcdef-WXYZ"


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(make_user(Role.OPERATORS))
    cache.clear()
    return client


def url_of(provider: Provider, page: str = "change") -> str:
    return reverse(f"admin:copilot_admin_provider_{page}", args=[provider.pk])


def save(client: Client, provider: Provider, **changes: Any) -> Any:
    response = submit(client, url_of(provider), changes, form_id=FORM)
    provider.refresh_from_db()
    return response


def errors_of(response: Any) -> dict[str, list[str]]:
    return dict(response.context["adminform"].form.errors)


def with_key(**changes: Any) -> Provider:
    provider = make_provider(
        **{"kind": "openai_compatible", "base_url": "https://api.example.com/v1", **changes}
    )
    set_api_key(provider, CANARY)
    return provider


def test_a_provider_is_made_with_its_key_and_patience(operator: Client) -> None:
    submit(
        operator,
        ADD,
        {
            "name": "Cloud",
            "kind": "openai_compatible",
            "base_url": "https://api.example.com/v1/",
            "api_key": CANARY,
            "connect": "2",
            "total": "",
        },
        form_id=FORM,
    )
    provider = Provider.objects.get()
    assert (provider.name, provider.kind) == ("Cloud", "openai_compatible")
    assert provider.base_url == "https://api.example.com/v1"
    assert api_key_of(provider) == CANARY
    assert provider.timeouts == {"connect": 2.0}


def test_the_key_is_never_shown_again(operator: Client) -> None:
    provider = with_key()
    save(operator, provider, name="Renamed", api_key=CANARY)
    for url in (LIST, url_of(provider), url_of(provider, "history"), url_of(provider, "delete")):
        page = operator.get(url).content.decode()
        assert CANARY not in page
        assert provider.api_key_cipher not in page
    assert "••••WXYZ" in operator.get(url_of(provider)).content.decode()
    assert "••••WXYZ" in operator.get(LIST).content.decode()
    assert CANARY not in "".join(entry.change_message for entry in LogEntry.objects.all())


def test_an_empty_field_keeps_the_key(operator: Client) -> None:
    provider = with_key()
    save(operator, provider, base_url="https://api.example.com/v2", name="Renamed")
    assert api_key_of(provider) == CANARY


def test_a_new_key_replaces_the_old_one(operator: Client) -> None:
    provider = with_key()
    save(operator, provider, api_key="sk-new-key-0123456789")
    assert api_key_of(provider) == "sk-new-key-0123456789"


def test_the_box_forgets_the_key(operator: Client) -> None:
    provider = with_key()
    save(operator, provider, clear_key="on")
    assert (provider.api_key_cipher, provider.api_key_hint) == ("", "")


def test_a_new_key_and_the_box_contradict_each_other(operator: Client) -> None:
    response = save(operator, with_key(), clear_key="on", api_key="sk-new")
    assert errors_of(response) == {"clear_key": ["Either enter a new key or forget the old one."]}


@pytest.mark.parametrize(
    "address",
    [
        "https://evil.example.com/v1",
        "http://api.example.com/v1",
        "https://api.example.com:8443/v1",
        "https://api.example.com.evil.example/v1",
        "",
    ],
)
def test_another_origin_makes_the_key_forgotten_and_says_so(operator: Client, address: str) -> None:
    provider = with_key()
    response = save(operator, provider, base_url=address)
    assert provider.api_key_cipher == ""
    assert messages_of(response)[0] == (
        "The address, the proxy or the trusted certificates lead to another server, so the stored "
        "key and headers were forgotten. Enter those of the new one."
    )


def test_another_origin_with_a_new_key_keeps_the_new_key(operator: Client) -> None:
    provider = with_key()
    save(operator, provider, base_url="https://other.example.com/v1", api_key="sk-of-the-other-1")
    assert api_key_of(provider) == "sk-of-the-other-1"


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        (
            {"base_url": "api.example.com"},
            "base_url",
            "Write the whole address: https://api.example.com/v1 or http://127.0.0.1:9100/v1",
        ),
        (
            {"base_url": "https://a.example:port/"},
            "base_url",
            "Write the whole address: https://api.example.com/v1 or http://127.0.0.1:9100/v1",
        ),
        (
            {"base_url": "https://me:secret@a.example/"},
            "base_url",
            "Leave name and password out; use the API key field.",
        ),
        (
            {"base_url": "http://[64:ff9b::a9fe:a9fe]/v1"},
            "base_url",
            "The provider's host '64:ff9b::a9fe:a9fe' leads to a link-local or metadata address, "
            "which no provider may have. Enter the address of a model server.",
        ),
        (
            {"base_url": "https://api.exa mple.com"},
            "base_url",
            "The provider's address 'https://api.exa mple.com' is no URL. Enter one like "
            "https://api.example.com/v1.",
        ),
        (
            {"api_key_env": "sk-123"},
            "api_key_env",
            "Write the name of the variable, not the key: COPILOT_KEY_LOCAL.",
        ),
        (
            {"api_key_env": "SECRET_KEY"},
            "api_key_env",
            "This variable is not one for keys. Use one of: COPILOT_KEY_..., OPENAI_API_KEY.",
        ),
        (
            {"name": "gnp\u202e.exe"},
            "name",
            "The invisible sign U+202E turns the direction of the text. Take it out: what follows "
            "it would be shown in another order than it has.",
        ),
        ({"connect": "0"}, "connect", "Ensure this value is greater than or equal to 0.1."),
        ({"total": "soon"}, "total", "Enter a number."),
        (
            {"kind": "telepathy"},
            "kind",
            "Select a valid choice. telepathy is not one of the available choices.",
        ),
    ],
)
def test_what_is_wrong_is_said_next_to_the_field(
    operator: Client, changes: dict[str, str], field: str, sentence: str
) -> None:
    response = save(operator, make_provider(), **changes)
    assert errors_of(response) == {field: [sentence]}


class Scripted:
    """A provider that does what the test says."""

    kind: ClassVar[str] = "scripted"
    label: ClassVar[str] = "Scripted"
    deltas: ClassVar[tuple[Delta | Alive, ...]] = (ALIVE, TextDelta("ready"), Finish("stop"))
    offered: ClassVar[tuple[str, ...]] = ("m-1", "m-2")
    error: ClassVar[ProviderRefused | None] = None
    is_silent: ClassVar[bool] = False
    calls: ClassVar[list[ModelCall]] = []

    def __init__(self, spec: ProviderSpec) -> None:
        self.spec = spec

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]:
        self.calls.append(call)
        if self.error:
            raise self.error
        if self.is_silent:
            await asyncio.Event().wait()
        for delta in self.deltas:
            yield delta

    async def models(self) -> tuple[str, ...]:
        if self.error:
            raise self.error
        return self.offered


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> type[Scripted]:
    """Registers the scripted kind."""
    monkeypatch.setattr(registry, "PROVIDERS", (*registry.PROVIDERS, Scripted))
    monkeypatch.setattr(Scripted, "calls", [])
    return Scripted


def test_the_test_says_how_long_the_first_text_took(
    operator: Client, scripted: type[Scripted]
) -> None:
    provider = make_provider(kind="scripted")
    response = operator.post(url_of(provider, "test"), {"model": ""}, follow=True)
    sentence = messages_of(response)[0]
    assert sentence.startswith("Working: m-1 answered, first text after ")
    assert [call.model for call in scripted.calls] == ["m-1"]
    (call,) = scripted.calls
    assert ([tool.name for tool in call.tools], dict(call.parameters)) == (["current_time"], {})


def test_the_test_says_what_went_wrong(
    operator: Client, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        scripted, "error", ProviderRefused("The key was refused.", detail="HTTP 401: no")
    )
    provider = make_provider(kind="scripted")
    response = operator.post(url_of(provider, "test"), {"model": "m-1"}, follow=True)
    assert messages_of(response) == [
        "Not working: The key was refused. The provider's words: HTTP 401: no"
    ]
    response = operator.post(url_of(provider, "models"), follow=True)
    assert messages_of(response) == ["The key was refused. The provider's words: HTTP 401: no"]


def test_a_silent_provider_is_given_up(
    operator: Client, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "PATIENCE_S", 0.0)
    monkeypatch.setattr(scripted, "is_silent", True)
    response = operator.post(
        url_of(make_provider(kind="scripted"), "test"), {"model": "m-1"}, follow=True
    )
    assert messages_of(response) == ["Not working: No text came within 0 seconds."]


def test_a_provider_that_cannot_be_asked_says_why(operator: Client) -> None:
    provider = make_provider(api_key_env="COPILOT_KEY_NOT_SET")
    for page in ("test", "models"):
        response = operator.post(url_of(provider, page), follow=True)
        assert "which is not set. Set it or enter a key." in messages_of(response)[0]


def test_fetched_models_are_suggested_to_builders(
    operator: Client, scripted: type[Scripted]
) -> None:
    provider = make_provider(kind="scripted")
    response = operator.post(url_of(provider, "models"), follow=True)
    assert messages_of(response) == ["2 models found."]
    assert '<option value="m-2">' in response.content.decode()

    builder = Client()
    builder.force_login(make_user(Role.BUILDERS))
    copilot = make_copilot(provider=provider)
    page = builder.get(reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]))
    assert '<option value="m-2">' in page.content.decode()


def test_a_builder_fetches_models_for_the_form(
    client: Client, scripted: type[Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.clear()
    client.force_login(make_user(Role.BUILDERS))
    provider = make_provider(kind="scripted")
    url = reverse("admin:copilot_admin_copilot_models")
    assert client.post(url, {"provider": provider.pk}).json() == {
        "models": ["m-1", "m-2"],
        "sentence": "2 models. Type to find one.",
    }
    for absent in ("", "0", "x"):
        assert client.post(url, {"provider": absent}).json() == {
            "models": [],
            "sentence": "Choose a provider first.",
        }
    assert client.post(url, {"provider": provider.pk + 1}).json() == {
        "models": [],
        "sentence": "This provider is not there any more. Choose another.",
    }
    monkeypatch.setattr(
        scripted, "error", ProviderRefused("The key was refused.", detail="HTTP 401: no")
    )
    assert client.post(url, {"provider": provider.pk}).json() == {
        "models": [],
        "sentence": "The key was refused.",
    }
    assert client.get(f"{url}?provider={provider.pk}").json() == {
        "models": ["m-1", "m-2"],
        "sentence": "",
    }
    assert client.get(f"{url}?provider=x").json() == {"models": [], "sentence": ""}
    assert client.put(url).status_code == 405


def test_no_field_of_a_request_decides_where_the_server_connects(
    client: Client, scripted: type[Scripted]
) -> None:
    client.force_login(make_user(Role.BUILDERS))
    provider = make_provider(kind="scripted", base_url="https://kept.example/v1")
    url = reverse("admin:copilot_admin_copilot_models")
    client.post(
        url, {"provider": provider.pk, "base_url": "https://evil.example", "kind": "rehearsal"}
    )
    provider.refresh_from_db()
    assert (provider.base_url, provider.kind) == ("https://kept.example/v1", "scripted")


@pytest.mark.database
def test_a_used_provider_is_not_deleted_and_names_who_uses_it(operator: Client) -> None:
    provider, other = make_provider(name="Cloud"), make_provider()
    make_copilot(provider=provider, name="A draft")
    published = make_published(provider=provider, name="Published")
    published.provider = other
    published.save()
    page = operator.get(url_of(provider, "delete")).content.decode()
    assert "“Cloud” is used by: A draft, Published (their drafts or published versions)." in page
    assert "protected related objects" not in page  # the library's words
    assert f'href="{url_of(provider, "change")}">Back to the provider</a>' in page
    operator.post(url_of(provider, "delete"), {"post": "yes"})
    assert Provider.objects.filter(pk=provider.pk).exists()


@pytest.mark.database
def test_an_unused_provider_is_deleted_after_a_question(operator: Client) -> None:
    provider = make_provider()
    assert "Providers: 1" in operator.get(url_of(provider, "delete")).content.decode()
    operator.post(url_of(provider, "delete"), {"post": "yes"})
    assert not Provider.objects.exists()


@pytest.mark.database
def test_the_list_says_where_keys_come_from_and_what_comes_first(operator: Client) -> None:
    assert "There is no provider yet." in operator.get(LIST).content.decode()
    make_provider(api_key_env="COPILOT_KEY_LOCAL", kind="gone")
    page = operator.get(LIST).content.decode()
    assert "$COPILOT_KEY_LOCAL" in page
    assert ">gone<" in page
