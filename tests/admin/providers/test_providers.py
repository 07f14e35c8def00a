"""Operators set up providers: a key goes in and never comes out, and is bound to its address."""

from typing import Any

from django.contrib.admin.models import LogEntry
from django.test import Client
import pytest

from copilot_admin.copilots.providers import api_key_of, set_api_key
from copilot_admin.models import Provider
from tests.admin.pages import errors_of, submit, url_of
from tests.factories import make_copilot, make_provider, make_published

pytestmark = pytest.mark.django_db
ADD = "/admin/copilot_admin/provider/add/?full=1"
LIST = "/admin/copilot_admin/provider/"
FORM = "provider_form"
CANARY = "sk-canary-0123456789abcdef-WXYZ"


def save(client: Client, provider: Provider, **changes: Any) -> Any:
    response = submit(client, url_of(provider), changes, form_id=FORM)
    provider.refresh_from_db()
    return response


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


@pytest.mark.parametrize(
    "address",
    [
        "https://api.example.com.evil.example/v1",
        "http://api.example.com/v1",
        "https://api.example.com:8443/v1",
        "",
    ],
)
def test_another_origin_makes_the_key_forgotten_and_says_so(operator: Client, address: str) -> None:
    provider = with_key()
    response = save(operator, provider, base_url=address)
    assert provider.api_key_cipher == ""
    assert 'data-message="warning"' in response.content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "api.example.com"),
        ("base_url", "https://me:secret@a.example/"),
        ("base_url", "http://[64:ff9b::a9fe:a9fe]/v1"),
        ("api_key_env", "sk-123"),
        ("api_key_env", "SECRET_KEY"),
        ("name", "gnp\u202e.exe"),
        ("connect", "0"),
        ("total", "soon"),
        ("kind", "telepathy"),
    ],
)
def test_an_error_stands_at_its_field(operator: Client, field: str, value: str) -> None:
    response = save(operator, make_provider(), **{field: value})
    assert list(errors_of(response)) == [field]


@pytest.mark.database
def test_a_used_provider_is_not_deleted_and_names_who_uses_it(operator: Client) -> None:
    provider, other = make_provider(name="Cloud"), make_provider()
    make_copilot(provider=provider, name="A draft")
    published = make_published(provider=provider, name="Published")
    published.provider = other
    published.save()
    page = operator.get(url_of(provider, "delete")).content.decode()
    assert "<li>A draft</li>" in page and "<li>Published</li>" in page
    operator.post(url_of(provider, "delete"), {"post": "yes"})
    assert Provider.objects.filter(pk=provider.pk).exists()
