"""Settings tab and header of a copilot."""

from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.models import Access, Copilot
from tests.admin.pages import messages_of, read_form, submit, url_of, values_in
from tests.factories import make_copilot, make_published, make_user

pytestmark = pytest.mark.django_db
FORM, CONFIRM = "settings-form", "confirm-form"


def change(client: Client, copilot: Copilot, **changes: Any) -> Any:
    changes = {f"now-{name}": value for name, value in changes.items()}
    return submit(client, url_of(copilot, "settings"), changes, form_id=FORM, button="apply")


def test_a_live_copilot_is_disabled_only_after_a_confirmation(builder: Client) -> None:
    copilot = make_published(name="News")
    question = change(builder, copilot, enabled=None)
    assert len(question.context["question"]) == 1
    assert Copilot.objects.published().exists()

    builder.post(url_of(copilot, "settings"), values_in(question.content.decode(), form_id=CONFIRM))
    assert not Copilot.objects.published().exists()
    assert LogEntry.objects.get().get_change_message() == "Changed Enabled."


def test_a_change_by_someone_else_is_not_reverted(builder: Client) -> None:
    copilot = make_published()
    values = read_form(builder, url_of(copilot, "settings"), form_id=FORM)
    Copilot.objects.update(access=Access.KEY)
    page = builder.post(
        url_of(copilot, "settings"), {**values, "now-logging": "nothing", "sure": "1"}
    )
    assert page.context["error"]
    assert values_in(page.content.decode(), form_id=FORM)["now-access"] == ["key"]
    copilot.refresh_from_db()
    assert (copilot.access, copilot.logging) == ("key", "everything")


def test_changing_a_setting_is_no_edit_of_the_draft(builder: Client) -> None:
    copilot = make_copilot()
    address = url_of(copilot, "change")
    values = read_form(builder, address, form_id="copilot_form")
    change(builder, copilot, access="key")
    response = builder.post(address, {**values, "description": "Mine", "_continue": "x"})
    assert response.status_code == 302
    copilot.refresh_from_db()
    assert (copilot.description, copilot.access) == ("Mine", "key")


def test_a_viewer_sees_the_settings_without_the_form(client: Client) -> None:
    guest = make_user(username="guest")
    guest.user_permissions.add(Permission.objects.get(codename="view_copilot"))
    client.force_login(guest)
    copilot = make_published()
    page = client.get(url_of(copilot, "settings"))
    assert page.status_code == 200
    assert f'id="{FORM}"' not in page.content.decode()
    assert client.post(url_of(copilot, "settings"), {}).status_code == 403


def test_the_list_confirms_before_live_copilots_are_disabled(builder: Client) -> None:
    live, draft = make_published(name="Live one"), make_copilot(name="Draft one")
    address = reverse("admin:copilot_admin_copilot_changelist")
    chosen = {"action": "disable_chosen", "_selected_action": [live.pk, draft.pk]}
    page = builder.post(address, chosen).content.decode()
    assert Copilot.objects.filter(enabled=True).count() == 2
    builder.post(address, values_in(page, form_id="switch-form"))
    assert not Copilot.objects.filter(enabled=True).exists()
    page = builder.post(address, {**chosen, "action": "enable_chosen"}).content.decode()
    builder.post(address, values_in(page, form_id="switch-form"))
    assert Copilot.objects.filter(enabled=True).count() == 2


def test_retention_and_redaction_are_stated(builder: Client, settings: Any) -> None:
    settings.REDACTION = (("email",), ())
    expressions = ["A-1", "B-2"]
    copilot = make_copilot(retention_days=30, redaction=["phone"], redacted_expressions=expressions)
    text = " ".join(builder.get(url_of(copilot, "settings")).content.decode().split())
    expected = ("30 days", "Email addresses", "Phone numbers", "2 expressions")
    assert [part for part in expected if part not in text] == []


def test_discarding_makes_the_draft_the_live_version_again(builder: Client) -> None:
    copilot = make_published(description="Live")
    Copilot.objects.filter(pk=copilot.pk).update(description="Draft")
    page = builder.get(url_of(copilot, "discard"))
    assert [change.label for change in page.context["changes"]] == ["Description"]
    assert page.context["copilot_header"]["changes"] == 1
    builder.post(url_of(copilot, "discard"))
    copilot.refresh_from_db()
    assert copilot.description == "Live"
    assert builder.get(url_of(copilot, "settings")).context["copilot_header"]["changes"] == 0


def test_a_copy_is_opened(builder: Client) -> None:
    copilot = make_published(slug="news")
    assert builder.get(url_of(copilot, "duplicate")).status_code == 405
    response = builder.post(url_of(copilot, "duplicate"))
    copy = Copilot.objects.get(slug="news-copy")
    assert response["Location"] == url_of(copy, "change")
    assert copy.live is None


LIST = "/admin/copilot_admin/copilot/"


def tags_of(copilot: Copilot) -> list[str]:
    found: list[str] = Copilot.objects.get(pk=copilot.pk).tags
    return found


def test_the_settings_page_saves_tags_without_the_draft(builder: Client) -> None:
    make_copilot(tags=["Macro"])
    copilot = make_published(name="News")
    page = builder.get(f"{LIST}{copilot.pk}/settings/")
    assert page.context["known_tags"] == ["Macro"]
    saved = builder.post(f"{LIST}tags/?id={copilot.pk}", {"tags": "macro, <b>"}, follow=True)
    text = saved.content.decode()
    assert tags_of(copilot) == ["Macro", "<b>"]
    assert "&lt;b&gt;" in text
    assert "<b>" not in text.partition('id="tags-form"')[2]
    assert saved.redirect_chain[-1][0] == f"{LIST}{copilot.pk}/settings/"


def test_several_get_and_lose_tags_at_once(builder: Client) -> None:
    one, other = make_copilot(tags=["old", "kept"]), make_copilot()
    data = {"action": "tag_chosen", "_selected_action": [one.pk, other.pk]}
    response = builder.post(LIST, data, follow=True)
    assert "Tags of 2 copilots" in response.content.decode()
    address = response.redirect_chain[-1][0]
    done = builder.post(address, {"add": "new", "remove": "OLD"}, follow=True)
    assert len(messages_of(done)) == 1
    assert (tags_of(one), tags_of(other)) == (["kept", "new"], ["new"])
    too_many = ",".join(f"t{number}" for number in range(19))
    page = builder.post(address, {"add": too_many}).content.decode()
    assert too_many in page
    assert (tags_of(one), tags_of(other)) == (["kept", "new"], ["new"])


def test_the_list_is_filtered_by_tag_and_shows_tags(builder: Client) -> None:
    make_copilot(name="One", tags=["Rates & FX"])
    make_copilot(name="Other")
    response = builder.get(LIST, {"tag": "rates & fx"})
    assert [row.name for row in response.context["cl"].result_list] == ["One"]
    assert 'href="?tag=Rates%20%26%20FX"' in response.content.decode()
