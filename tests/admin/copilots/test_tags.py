"""Tags in the admin: of one copilot, of several, and in the filter of the list."""

from django.test import Client
import pytest

from copilot_admin.models import Copilot
from tests.admin.pages import messages_of
from tests.factories import make_copilot, make_published

pytestmark = pytest.mark.django_db
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
