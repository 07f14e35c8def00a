"""A row that goes while somebody edits it: said on a page, with what he typed."""

from typing import Any

from django.db.models.signals import pre_save
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot, Criterion, Provider
from tests.admin.pages import merged, read_form
from tests.factories import make_copilot, make_provider, make_user

pytestmark = pytest.mark.django_db


def browser(*roles: Role) -> Client:
    client = Client()
    client.force_login(make_user(*roles))
    return client


def opened(client: Client, row: Any) -> tuple[str, dict[str, Any]]:
    """The address of a row's form, and what the form has in it."""
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    return address, read_form(client, address, form_id=f"{row._meta.model_name}_form")


def sent(client: Client, address: str, form: dict[str, Any], **typed: str) -> tuple[int, str]:
    page = client.post(address, merged(form, typed))
    return page.status_code, page.content.decode()


def test_what_was_typed_of_a_deleted_row_is_shown_and_nothing_is_made():
    provider = make_provider()
    client = browser(Role.OPERATORS)
    address, form = opened(client, provider)
    Provider.objects.all().delete()
    status, page = sent(client, address, form, name="<b>Typed</b>", api_key="sk-canary-typed")
    assert (status, "This is not there any more" in page) == (404, True)
    assert "&lt;b&gt;Typed&lt;/b&gt;</textarea>" in page
    assert "sk-canary" not in page
    assert not Provider.objects.exists()


def test_one_that_goes_while_it_is_saved_is_not_made_anew():
    criterion = Criterion.objects.create(name="Wrong")
    client = browser(Role.OPERATORS)
    address, form = opened(client, criterion)

    def go(instance: Criterion, **_: object) -> None:
        Criterion.objects.filter(pk=instance.pk).delete()

    pre_save.connect(go, sender=Criterion)
    try:
        status, page = sent(client, address, form, name="Typed")
    finally:
        pre_save.disconnect(go, sender=Criterion)
    assert (status, ">Typed</textarea>" in page) == (404, True)


def test_one_that_went_as_it_was_looked_up_is_no_fault(monkeypatch):
    criterion = Criterion.objects.create(name="Wrong")
    client = browser(Role.OPERATORS)
    address, form = opened(client, criterion)

    def gone(row: Any) -> None:
        type(row)._base_manager.filter(pk=row.pk).delete()
        raise type(row).DoesNotExist

    monkeypatch.setattr("copilot_admin.admin.common.audited.stored", gone)
    status, page = sent(client, address, form, name="Typed")
    assert (status, ">Typed</textarea>" in page) == (404, True)


def test_a_copilot_that_was_put_into_the_archive_is_told_as_that():
    copilot = make_copilot(description="Before")
    client = browser(Role.BUILDERS)
    address, form = opened(client, copilot)
    Copilot.objects.filter(pk=copilot.pk).update(archived_at=copilot.updated_at, enabled=False)
    status, page = sent(client, address, form, description="Typed for an hour")
    assert (status, "Typed for an hour</textarea>" in page) == (403, True)
    copilot.refresh_from_db()
    assert copilot.description == "Before"


def test_whoever_may_not_change_such_rows_is_refused_as_before():
    address = reverse("admin:copilot_admin_copilot_change", args=[make_copilot().pk])
    page = browser(Role.PUBLISHERS).post(address, {"description": "Typed"})
    assert (page.status_code, b"Typed" in page.content) == (403, False)


def test_a_row_that_nobody_edits_leads_to_the_start_as_before():
    address = reverse("admin:copilot_admin_criterion_change", args=[10**6])
    assert browser(Role.OPERATORS).get(address).status_code == 302


@pytest.mark.parametrize("key", ["x", "9" * 40, "_00"])
def test_no_key_of_a_row_is_a_fault(key):
    address = reverse("admin:copilot_admin_criterion_change", args=["1"]).replace("/1/", f"/{key}/")
    page = browser(Role.OPERATORS).post(address, {"name": "Typed"})
    assert (page.status_code, b">Typed</textarea>" in page.content) == (404, True)
    assert browser(Role.BUILDERS).post(address, {"name": "Typed"}).status_code == 403
