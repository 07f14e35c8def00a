"""What no form shows stays as others leave it while somebody saves the form."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User
from django.db.models.signals import pre_save
from django.test import Client
from django.urls import reverse
from django.utils import timezone
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.archive import put_away
from copilot_admin.copilots.publishing import publish
from copilot_admin.jobs.deletion import mark
from copilot_admin.models import Copilot, EndpointKey, Provider
from tests.admin.pages import read_form
from tests.factories import make_key, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
LATER = timezone.now()


def while_saving(row: Any, by: Client, act: Callable[[Any], object], **typed: str) -> None:
    """Saves the form of a row; something is done to the row when all of the form is looked through."""
    address = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])
    form = read_form(by, address, form_id=f"{row._meta.model_name}_form")

    def do(instance: Any, **_: object) -> None:
        if instance.pk == row.pk:
            pre_save.disconnect(do, sender=type(row))
            act(type(row).objects.get(pk=row.pk))

    pre_save.connect(do, sender=type(row))
    try:
        assert by.post(address, {**form, **typed}).status_code == 302
    finally:
        pre_save.disconnect(do, sender=type(row))
    row.refresh_from_db()


def browser(*roles: Role, **more: Any) -> Client:
    client = Client()
    client.force_login(make_user(*roles, **more))
    return client


def of_the_shelf(copilot: Copilot) -> tuple[object, ...]:
    """How a copilot stands, whatever its draft says."""
    live = copilot.live.number if copilot.live else None
    gone = copilot.deletion_requested_at is not None
    return live, copilot.enabled, copilot.is_archived, gone


@pytest.mark.parametrize(
    ("act", "stands"),
    [
        (lambda row: publish(row, user=None), (2, True, False, False)),
        (lambda row: put_away([row.pk]), (1, False, True, False)),
        (lambda row: mark([row.pk]), (None, False, False, True)),
    ],
    ids=["published", "archived", "deleted"],
)
def test_a_copilot_stands_as_somebody_put_it_while_its_draft_was_saved(act, stands):
    copilot = make_published(description="First")
    Copilot.objects.update(description="Second")
    while_saving(copilot, browser(Role.BUILDERS), act, system_prompt="Typed")
    assert (copilot.system_prompt, of_the_shelf(copilot)) == ("Typed", stands)


def test_a_key_that_is_revoked_while_its_form_is_saved_stays_revoked():
    key, _text = make_key()
    act = lambda row: EndpointKey.objects.filter(pk=row.pk).update(revoked_at=LATER)  # noqa: E731
    while_saving(key, browser(Role.OPERATORS), act, name="Typed")
    assert (key.name, key.revoked_at) == ("Typed", LATER)


def test_a_provider_keeps_a_key_that_is_sealed_anew_while_its_form_is_saved():
    provider = make_provider(api_key_cipher="old", api_key_hint="hint")
    act = lambda row: Provider.objects.filter(pk=row.pk).update(api_key_cipher="new")  # noqa: E731
    while_saving(provider, browser(Role.OPERATORS), act, name="Typed")
    assert (provider.name, provider.api_key_cipher) == ("Typed", "new")


def test_somebody_keeps_the_password_that_he_sets_while_his_account_is_saved():
    person = make_user(username="ada")
    act = lambda row: User.objects.filter(pk=row.pk).update(password="new")  # noqa: E731
    while_saving(person, browser(is_superuser=True), act, first_name="Typed")
    assert (person.first_name, person.password) == ("Typed", "new")
