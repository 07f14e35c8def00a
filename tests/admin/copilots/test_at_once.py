"""What acts at once is saved by itself, after a question where people would notice."""

from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Access, Copilot
from tests.admin.pages import messages_of, read_form, submit, values_in
from tests.factories import make_copilot, make_published, make_user

pytestmark = pytest.mark.django_db
FORM = "at-once-form"
GONE = "It goes out of the list that Workspace reads"


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS, username="ada"))
    return client


def url(copilot: Copilot) -> str:
    return reverse("admin:copilot_admin_copilot_at_once", args=[copilot.pk])


def turn(client: Client, copilot: Copilot, **changes: Any) -> Any:
    changes = {f"now-{name}": value for name, value in changes.items()}
    return submit(client, url(copilot), changes, form_id=FORM, button="apply")


def test_a_live_copilot_is_switched_off_only_after_a_question(builder: Client) -> None:
    copilot = make_published(name="News")
    asked = turn(builder, copilot, enabled=None)
    page = asked.content.decode()
    assert "People will notice this. Do it now?" in page
    assert GONE in page
    assert "Live, exactly as its draft is." in page
    assert Copilot.objects.published().exists()

    done = builder.post(url(copilot), values_in(page, form_id=FORM), follow=True)
    assert messages_of(done) == ["Done. It acts from now on."]
    assert not Copilot.objects.published().exists()
    entry = LogEntry.objects.get()
    assert entry.get_change_message() == "Changed Switched on."


def test_a_draft_that_nobody_sees_is_switched_without_a_question(builder: Client) -> None:
    copilot = make_copilot()
    response = turn(builder, copilot, enabled=None, access="key", logging="nothing")
    assert messages_of(response) == ["Done. It acts from now on."]
    copilot.refresh_from_db()
    assert (copilot.enabled, copilot.access, copilot.logging) == (False, "key", "nothing")


def test_what_somebody_else_turned_meanwhile_is_not_turned_back(builder: Client) -> None:
    copilot = make_published()
    values = read_form(builder, url(copilot), form_id=FORM)
    Copilot.objects.update(access=Access.KEY)
    page = builder.post(url(copilot), {**values, "now-logging": "nothing", "sure": "1"})
    assert "Somebody changed this meanwhile." in page.content.decode()
    assert values_in(page.content.decode(), form_id=FORM)["now-access"] == ["key"]
    copilot.refresh_from_db()
    assert (copilot.access, copilot.logging) == ("key", "everything")


def test_turning_a_switch_is_no_edit_of_the_draft(builder: Client) -> None:
    copilot = make_copilot()
    address = reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])
    values = read_form(builder, address, form_id="copilot_form")
    turn(builder, copilot, access="key")
    response = builder.post(address, {**values, "description": "Mine", "_continue": "x"})
    assert response.status_code == 302
    copilot.refresh_from_db()
    assert (copilot.description, copilot.access) == ("Mine", "key")


def test_who_may_only_look_sees_how_it_stands(client: Client) -> None:
    guest = make_user(username="guest")
    guest.user_permissions.add(Permission.objects.get(codename="view_copilot"))
    client.force_login(guest)
    copilot = make_published()
    page = client.get(reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]))
    assert "Everybody who reaches this server may ask." in page.content.decode()
    assert "Apply now" not in page.content.decode()
    assert client.get(url(copilot)).status_code == 403


def test_the_list_asks_before_live_copilots_are_switched(builder: Client) -> None:
    live, draft = make_published(name="Live one"), make_copilot(name="Draft one")
    address = reverse("admin:copilot_admin_copilot_changelist")
    chosen = {"action": "disable_chosen", "_selected_action": [live.pk, draft.pk]}
    page = builder.post(address, chosen).content.decode()
    assert "Disable copilots?" in page
    assert GONE in page
    assert "Draft one" in page
    assert Copilot.objects.filter(enabled=True).count() == 2

    done = builder.post(address, values_in(page, form_id="switch-form"), follow=True)
    assert messages_of(done) == ["2 copilots were disabled."]
    chosen["action"] = "enable_chosen"
    page = builder.post(address, chosen).content.decode()
    assert "Enable copilots?" in page
    builder.post(address, values_in(page, form_id="switch-form"))
    assert Copilot.objects.filter(enabled=True).count() == 2


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "Whole conversations are kept. Transcripts are kept indefinitely."),
        ({"retention_days": 1}, "Transcripts are deleted after 1 day without activity."),
        (
            {"retention_days": 30, "redaction": ["phone"], "redacted_expressions": ["A-1", "B-2"]},
            "Transcripts are deleted after 30 days without activity. Never stored: E-mail addresses; "
            "Phone numbers; what 2 expressions find.",
        ),
    ],
)
def test_it_says_for_how_long_is_kept_and_what_is_not_stored(
    builder: Client, settings: Any, fields: dict[str, Any], expected: str
) -> None:
    settings.REDACTION = (("email",), ()) if "redaction" in fields else ((), ())
    copilot = make_copilot(**fields)
    text = " ".join(builder.get(url(copilot)).content.decode().split())
    assert expected in text
    Copilot.objects.update(logging="metadata")
    text = " ".join(builder.get(url(copilot)).content.decode().split())
    assert "They are deleted" not in text
    assert "Never stored" not in text
