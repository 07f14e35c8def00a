"""A new URL of a provider that live copilots use is confirmed, recorded, and approved if so set."""

from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Action, AuditEntry, Provider, RerouteApproval
from tests.admin.pages import submit, url_of
from tests.factories import make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
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
