"""Providers: a key goes in and never comes out; a new URL of live copilots is confirmed."""

from typing import Any

from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.providers import api_key_of, set_api_key
from copilot_admin.models import Action, AuditEntry, Provider, RerouteApproval
from tests.admin.pages import errors_of, submit, url_of
from tests.factories import make_copilot, make_provider, make_published, make_user

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


OLD, NEW = "http://127.0.0.1:9/v1", "http://127.0.0.1:8/v1"


@pytest.fixture
def provider() -> Provider:
    found = make_provider(name="Ours", kind="openai_compatible", base_url=OLD)
    make_published(name="News", provider=found)
    return found


def operator(name: str) -> Client:
    client = Client()
    client.force_login(make_user(Role.OPERATORS, username=name))
    return client


def change(client: Client, provider: Provider, **values: Any) -> Any:
    url = url_of(provider)
    return submit(client, url, {"base_url": NEW, **values}, form_id="provider_form")


def test_a_new_url_is_confirmed_with_the_names_of_live_copilots(provider: Provider) -> None:
    client = operator("ada")
    errors = change(client, provider).context["adminform"].form.errors
    assert errors.keys() == {"base_url", "confirm_reroute"}
    assert "News" in str(errors["base_url"])
    provider.refresh_from_db()
    assert provider.base_url == OLD
    change(client, provider, confirm_reroute="on")
    provider.refresh_from_db()
    assert provider.base_url == NEW
    entry = AuditEntry.objects.get(action=Action.SWITCHED)
    assert "News" in str(entry.after)


def test_other_changes_and_unused_providers_need_no_confirmation(provider: Provider) -> None:
    client = operator("ada")
    change(client, provider, base_url=OLD, name="Renamed")
    provider.refresh_from_db()
    assert provider.name == "Renamed"
    unused = make_provider(name="Spare", kind="openai_compatible", base_url=OLD)
    change(client, unused)
    unused.refresh_from_db()
    assert unused.base_url == NEW


def test_a_second_person_approves_if_so_set(provider: Provider, settings: Any) -> None:
    settings.PROVIDER_APPROVAL = True
    ada, ben = operator("ada"), operator("ben")
    change(ada, provider, confirm_reroute="on")
    approval = RerouteApproval.objects.get()
    url = reverse("admin:copilot_admin_provider_approve", args=[approval.pk])
    assert ada.post(url).status_code == 403
    page = ben.get(url_of(provider))
    assert f'data-approval="{approval.pk}"' in page.content.decode()
    assert ben.post(url).status_code == 302
    change(ada, provider, confirm_reroute="on")
    provider.refresh_from_db()
    assert provider.base_url == NEW
