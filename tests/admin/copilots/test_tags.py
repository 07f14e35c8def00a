"""Tags in the admin: of one copilot, of several, and in the filter of the list."""

from typing import Any

from django.test import Client
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.archive import put_away
from copilot_admin.models import Copilot
from tests.admin.pages import messages_of
from tests.factories import make_copilot, make_published, make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/copilot/"


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS))
    return client


def tags_of(copilot: Copilot) -> list[str]:
    found: list[str] = Copilot.objects.get(pk=copilot.pk).tags
    return found


def test_the_panel_of_a_copilot_saves_its_tags_without_the_draft(builder: Client) -> None:
    make_copilot(tags=["Macro"])
    copilot = make_published(name="News")
    page = builder.get(f"{LIST}{copilot.pk}/change/").content.decode()
    assert "There are: Macro." in page
    panel = builder.post(f"{LIST}tags/?id={copilot.pk}&part=1", {"tags": "macro, <b>"})
    text = panel.content.decode()
    assert tags_of(copilot) == ["Macro", "<b>"]
    assert "The tags of one copilot were changed." in text
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert "</html>" not in text
    again = builder.post(f"{LIST}tags/?id={copilot.pk}", {"tags": "Macro,<b>"}, follow=True)
    assert messages_of(again) == ["Nothing was changed."]
    assert again.redirect_chain[-1][0] == f"{LIST}{copilot.pk}/change/"


@pytest.mark.parametrize("part", ["", "&part=1"])
def test_refused_tags_keep_what_was_typed(builder: Client, part: str) -> None:
    copilot = make_copilot(tags=["a"])
    response = builder.post(f"{LIST}tags/?id={copilot.pk}{part}", {"tags": f"b, {'x' * 41}"})
    page = response.content.decode()
    assert "a tag has 1 to 40 characters." in page
    assert f'value="b, {"x" * 41}"' in page
    assert tags_of(copilot) == ["a"]


def test_several_get_and_lose_tags_at_once(builder: Client) -> None:
    one, other = make_copilot(tags=["old", "kept"]), make_copilot()
    data = {"action": "tag_chosen", "_selected_action": [one.pk, other.pk]}
    response = builder.post(LIST, data, follow=True)
    assert "Tags of 2 copilots" in response.content.decode()
    address = response.redirect_chain[-1][0]
    done = builder.post(address, {"add": "new", "remove": "OLD"}, follow=True)
    assert messages_of(done) == ["The tags of 2 copilots were changed."]
    assert (tags_of(one), tags_of(other)) == (["kept", "new"], ["new"])
    too_many = ",".join(f"t{number}" for number in range(19))
    page = builder.post(address, {"add": too_many}).content.decode()
    assert "A copilot has 20 tags at most." in page
    assert too_many in page
    assert (tags_of(one), tags_of(other)) == (["kept", "new"], ["new"])


def test_the_list_is_filtered_by_tag_and_shows_tags(builder: Client) -> None:
    make_copilot(name="One", tags=["Rates & FX"])
    make_copilot(name="Other")
    response = builder.get(LIST, {"tag": "rates & fx"})
    assert [row.name for row in response.context["cl"].result_list] == ["One"]
    assert 'href="?tag=Rates%20%26%20FX"' in response.content.decode()


def test_the_archive_is_filtered_by_its_own_tags(builder: Client) -> None:
    make_copilot(tags=["in use"])
    put_away([make_copilot(name="Old", tags=["old"]).pk])
    page = builder.get(LIST, {"state": "archived", "tag": "old"}).content.decode()
    assert 'href="?state=archived&amp;tag=old"' in page
    assert "in use" not in page
    assert "<h1>Archive</h1>" in page


def test_a_server_without_tags_has_no_filter_of_them(builder: Client) -> None:
    make_copilot()
    assert "By tag" not in builder.get(LIST).content.decode()


def test_who_may_not_change_copilots_does_not_tag_them(client: Client) -> None:
    client.force_login(make_user(Role.REVIEWERS))
    copilot = make_copilot()
    assert client.post(f"{LIST}tags/?id={copilot.pk}", {"tags": "a"}).status_code == 403
    assert tags_of(copilot) == []


def test_a_copilot_that_vanished_is_not_tagged(builder: Client) -> None:
    assert builder.post(f"{LIST}tags/?id=999", {"tags": "a"}).status_code == 404
    assert builder.post(f"{LIST}tags/?id=x", {"tags": "a"}).status_code == 404


def test_tags_travel_in_files_and_with_copies(builder: Client) -> None:
    copilot = make_copilot(slug="news", tags=["Macro"])
    data: dict[str, Any] = {"action": "duplicate_chosen", "_selected_action": [copilot.pk]}
    builder.post(LIST, data)
    assert tags_of(Copilot.objects.get(slug="news-copy")) == ["Macro"]
