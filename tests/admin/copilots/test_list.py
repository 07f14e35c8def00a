"""The list of copilots: how each stands, and what can be done with several."""

from typing import Any

from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.copilots.live_settings import archive_copilots
from copilot_admin.copilots.publishing import NotPublishable, publish
from copilot_admin.copilots.status import CopilotState
from copilot_admin.jobs.deletion import mark_for_deletion
from copilot_admin.models import Conversation, Copilot
from tests.admin.pages import act, messages_of, names_in, url_of
from tests.factories import make_copilot, make_key, make_provider, make_published, make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/copilot/"
ARCHIVE = f"{LIST}?state=archived"


def make_broken(**changes: Any) -> Copilot:
    provider = make_provider()
    copilot = make_published(provider=provider, **changes)
    provider.api_key_env = "COPILOT_KEY_NOT_SET"
    provider.save()
    return copilot


def make_changed(**changes: Any) -> Copilot:
    copilot = make_published(**changes)
    copilot.description = "Other words"
    copilot.save()
    return copilot


def make_archived(**changes: Any) -> Copilot:
    [copilot] = archive_copilots([make_published(**changes).pk])
    return copilot


@pytest.mark.database
def test_the_list_is_filtered_by_state(builder: Client) -> None:
    make_copilot(name="draft")
    make_published(name="published")
    make_changed(name="changed")
    make_broken(name="broken")
    make_published(name="disabled", enabled=False)
    mark_for_deletion([make_published(name="deleted").pk])
    archive_copilots([make_published(name="archived").pk])
    found = {one.value: names_in(builder.get(LIST, {"state": one.value})) for one in CopilotState}
    assert found == {one.value: [one.value] for one in CopilotState}


def test_the_list_costs_the_same_however_long_it_is(
    builder: Client, django_assert_max_num_queries: Any
) -> None:
    for _ in range(3):
        make_published()
    builder.get(LIST)
    with django_assert_max_num_queries(14) as few:  # one is cached for some seconds
        builder.get(LIST)
    for _ in range(12):
        make_published()
    with django_assert_max_num_queries(max(14, len(few.captured_queries))):
        builder.get(LIST)


@pytest.mark.database
def test_a_duplicate_has_a_name_and_slug_of_its_own_and_is_a_draft(builder: Client) -> None:
    fields = {"name": "News", "slug": "news", "system_prompt": "Be brief.", "tags": ["Macro"]}
    copilot = make_published(**fields)
    response = act(builder, LIST, "duplicate_chosen", copilot)
    copy = Copilot.objects.get(slug="news-copy")
    assert (copy.name, copy.system_prompt, copy.live) == ("News (copy)", "Be brief.", None)
    assert copy.tags == ["Macro"]
    assert response.redirect_chain[-1][0] == f"{LIST}{copy.pk}/change/"
    assert len(messages_of(response)) == 1
    act(builder, LIST, "duplicate_chosen", copilot)
    assert Copilot.objects.filter(name="News (copy 2)", slug="news-copy-2").exists()


def test_publishing_several_asks_first_and_names_what_goes_live(builder: Client) -> None:
    first, changed = make_copilot(name="First"), make_changed(name="Second")
    wrong = make_copilot(name="Third", system_prompt="{{ nobody }}")
    same = make_published(name="Fourth")
    response = act(builder, LIST, "publish_chosen", first, changed, wrong, same)
    page = response.content.decode()
    assert response.redirect_chain[-1][0].startswith(f"{LIST}publish/?id=")
    assert "First version" in page
    assert "Other words" in page
    assert "{{ nobody }}" in page
    assert page.count('data-state="unchanged"') == 1
    assert not Copilot.objects.get(pk=first.pk).live


def make_conversation(copilot: Copilot) -> Conversation:
    now = timezone.now()
    return Conversation.objects.create(
        copilot=copilot, principal="anonymous", first_at=now, last_at=now, title="Why?"
    )


def test_a_copilot_with_conversations_is_not_deleted_by_a_builder(builder: Client) -> None:
    copilot = make_archived(name="News")
    make_conversation(copilot)
    url = url_of(copilot, "delete")
    assert "one conversation" in builder.get(url).content.decode()
    builder.post(url, {"post": "yes"})
    act(builder, ARCHIVE, "delete_selected", copilot, post="yes")
    assert not Copilot.objects.get(pk=copilot.pk).is_being_deleted


@pytest.mark.database
def test_an_administrator_deletes_a_copilot_with_its_conversations(client: Client) -> None:
    client.force_login(make_user(is_superuser=True))
    copilot = make_archived()
    make_conversation(copilot)
    url = url_of(copilot, "delete")
    assert "Conversations: 1" in client.get(url).content.decode()
    client.post(url, {"post": "yes"})
    copilot.refresh_from_db()
    assert (copilot.is_being_deleted, copilot.enabled, copilot.live) == (True, False, None)


def test_nobody_edits_enables_publishes_or_deletes_a_copilot_that_is_being_deleted(
    client: Client,
) -> None:
    client.force_login(make_user(is_superuser=True))
    copilot = make_published(name="News")
    mark_for_deletion([copilot.pk])
    marked_at = Copilot.objects.get().deletion_requested_at
    page = client.get(f"{LIST}{copilot.pk}/change/").content.decode()
    assert 'name="_save"' not in page
    assert client.post(f"{LIST}{copilot.pk}/change/", {"name": "Other"}).status_code == 403
    assert client.get(f"{LIST}publish/?id={copilot.pk}").status_code == 404
    assert client.post(f"{LIST}{copilot.pk}/delete/", {"post": "yes"}).status_code == 403
    act(client, LIST, "enable_chosen", copilot)
    act(client, LIST, "delete_selected", copilot, post="yes")
    found = Copilot.objects.get()
    assert (found.name, found.enabled, found.deletion_requested_at) == ("News", False, marked_at)
    with pytest.raises(NotPublishable):
        publish(copilot, user=None)
    act(client, LIST, "duplicate_chosen", copilot)
    assert not Copilot.objects.get(name="News (copy)").is_being_deleted


def test_a_key_for_a_deleted_copilot_alone_opens_nothing_else(builder: Client) -> None:
    gone, stays = make_archived(), make_copilot()
    narrow, _ = make_key("narrow", copilots=(gone,))
    wide, _ = make_key("wide", copilots=(gone, stays))
    everything, _ = make_key("everything")
    url = url_of(gone, "delete")
    builder.post(url, {"post": "yes"})
    for key in (narrow, wide, everything):
        key.refresh_from_db()
    assert narrow.revoked_at is not None
    assert (wide.revoked_at, everything.revoked_at) == (None, None)


def test_the_list_is_sorted_by_name_whatever_its_case(builder: Client) -> None:
    for name in ("Zoo", "desk 2", "Desk 1"):
        make_copilot(name=name)
    assert names_in(builder.get(LIST)) == ["Desk 1", "desk 2", "Zoo"]
    assert names_in(builder.get(LIST, {"o": "-1"})) == ["Zoo", "desk 2", "Desk 1"]
