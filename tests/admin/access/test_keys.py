"""API keys: shown once, kept as a hash, revoked at once."""

from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.sessions.models import Session
from django.test import Client
import pytest

from copilot_admin.copilots.callers import identify
from copilot_admin.errors import Unauthorized
from copilot_admin.models import EndpointKey
from tests.admin.pages import messages_of, submit, url_of
from tests.factories import make_copilot, make_key

pytestmark = pytest.mark.django_db
ADD = "/admin/copilot_admin/endpointkey/add/"
LIST = "/admin/copilot_admin/endpointkey/"
FORM = "endpointkey_form"


def make(client: Client, **changes: Any) -> Any:
    return submit(client, ADD, {"name": "Desk", **changes}, form_id=FORM, button="_save")


def test_a_key_is_shown_once_and_works(operator: Client) -> None:
    copilot = make_copilot()
    response = make(operator, copilots=[copilot.pk], expires_at="2099-01-01T00:00")
    text = response.context["text"]
    assert text in response.content.decode()
    assert "no-store" in response["Cache-Control"]
    caller = identify(text)
    assert caller.copilot_ids == frozenset({copilot.pk})
    key = EndpointKey.objects.get()
    assert key.expires_at is not None
    assert key.expires_at.isoformat() == "2099-01-01T00:00:00+00:00"


def test_the_key_is_found_nowhere_afterwards(operator: Client) -> None:
    text = make(operator).context["text"]
    key = EndpointKey.objects.get()
    for url in (LIST, url_of(key), url_of(key, "history"), url_of(key, "revoke"), "/admin/"):
        assert text not in operator.get(url).content.decode()
    stored: list[object] = [*EndpointKey.objects.values_list(), *LogEntry.objects.values_list()]
    stored += [session.get_decoded() for session in Session.objects.all()]
    assert text not in str(stored)


@pytest.mark.database
def test_a_key_never_grows_because_its_copilots_went(operator: Client) -> None:
    copilot, other = make_copilot(), make_copilot()
    text = make(operator, copilots=[other.pk]).context["text"]
    page = url_of(EndpointKey.objects.get())
    submit(operator, page, {"copilots": [copilot.pk]}, form_id=FORM, button="_save")
    assert identify(text).copilot_ids == frozenset({copilot.pk})
    copilot.delete()
    assert identify(text).copilot_ids == frozenset()
    response = submit(operator, page, {"copilots": []}, form_id=FORM, button="_save")
    errors = response.context["adminform"].form.errors.as_data()
    assert errors["copilots"][0].code == "scope"
    assert identify(text).copilot_ids == frozenset()


def test_revoking_asks_first_and_acts_at_once(operator: Client) -> None:
    key, text = make_key("Desk")
    page = operator.get(url_of(key, "revoke")).content.decode()
    assert key.shown in page
    assert identify(text).key_id == key.pk
    response = operator.post(url_of(key, "revoke"), follow=True)
    assert len(messages_of(response)) == 1
    with pytest.raises(Unauthorized):
        identify(text)
