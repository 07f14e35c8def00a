"""The archive: what is put away is out of sight, and comes back switched off."""

from datetime import timedelta

from django.test import Client
from django.utils import timezone
import pytest

from copilot_admin.copilots.live import live_copilots
from copilot_admin.copilots.live_settings import archive_copilots
from copilot_admin.copilots.publishing import NotPublishable, publish, restore
from copilot_admin.import_export.errors import BadCopilotFile
from copilot_admin.import_export.importing import import_values
from copilot_admin.models import Conversation, Copilot, DailyTotal
from tests.admin.pages import act, messages_of, names_in
from tests.factories import make_copilot, make_published, make_user

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/copilot/"
ARCHIVE = f"{LIST}?state=archived"


def test_what_is_live_is_asked_about_before_it_is_put_away(builder: Client) -> None:
    copilot = make_published(name="News")
    DailyTotal.objects.create(copilot=copilot, day=timezone.now().date(), questions=3, errors=1)
    old = timezone.now().date() - timedelta(days=7)
    DailyTotal.objects.create(copilot=copilot, day=old, questions=90)
    response = act(builder, LIST, "archive_chosen", copilot)
    page = response.content.decode()
    assert response.redirect_chain[-1][0] == f"{LIST}archive/?id={copilot.pk}"
    assert 'data-noticed="yes"' in page
    assert "3 questions" in page
    assert not Copilot.objects.get().is_archived
    done = builder.post(f"{LIST}archive/?id={copilot.pk}", follow=True)
    assert len(messages_of(done)) == 1
    assert (names_in(done), names_in(builder.get(ARCHIVE))) == ([], ["News"])
    assert live_copilots([copilot.pk]) == ()
    assert "Put into the archive." in builder.get(f"{LIST}{copilot.pk}/history/").content.decode()


def test_what_nobody_can_ask_is_put_away_without_a_question(builder: Client) -> None:
    draft, off = make_copilot(name="Draft"), make_published(enabled=False)
    assert 'data-noticed="no"' in builder.get(f"{LIST}archive/?id={draft.pk}").content.decode()
    response = act(builder, LIST, "archive_chosen", draft, off)
    assert len(messages_of(response)) == 1
    assert not Copilot.objects.in_use().exists()


def test_the_page_of_an_archived_copilot_offers_to_restore_it_and_nothing_else(
    builder: Client,
) -> None:
    copilot = make_published(name="News")
    archive_copilots([copilot.pk])
    page = builder.get(f"{LIST}{copilot.pk}/change/").content.decode()
    assert 'id="back-form"' in page
    assert 'name="_continue"' not in page
    assert 'id="publish"' not in page
    assert builder.post(f"{LIST}{copilot.pk}/change/", {"name": "Other"}).status_code == 403
    assert builder.post(f"{LIST}{copilot.pk}/settings/", {"now-enabled": "on"}).status_code == 403
    assert builder.get(f"{LIST}publish/?id={copilot.pk}").status_code == 404
    assert builder.get(f"{LIST}tags/?id={copilot.pk}").status_code == 404
    assert builder.get(f"/admin/connect/{copilot.pk}/").status_code == 404
    assert builder.get(f"{LIST}{copilot.pk}/back/").status_code == 405
    response = builder.post(f"{LIST}{copilot.pk}/back/", follow=True)
    assert len(messages_of(response)) == 1
    assert 'name="_continue"' in response.content.decode()
    again = builder.post(f"{LIST}{copilot.pk}/back/", follow=True)
    assert len(messages_of(again)) == 1


@pytest.mark.database
def test_a_copilot_in_use_is_not_deleted_before_it_is_in_the_archive(builder: Client) -> None:
    copilot = make_copilot()
    response = builder.post(f"{LIST}{copilot.pk}/delete/", {"post": "yes"}, follow=True)
    assert response.redirect_chain[-1][0] == f"{LIST}archive/?id={copilot.pk}"
    assert len(messages_of(response)) == 1
    assert not Copilot.objects.get().is_being_deleted
    archive_copilots([copilot.pk])
    builder.post(f"{LIST}{copilot.pk}/delete/", {"post": "yes"})
    found = Copilot.objects.get()
    assert (found.is_being_deleted, found.is_archived) == (True, False)
    assert names_in(builder.get(LIST)) == [found.name]


def test_what_is_archived_is_neither_published_nor_brought_back_to_a_version_nor_imported() -> None:
    copilot = make_published(slug="news")
    archive_copilots([copilot.pk])
    assert copilot.live is not None
    with pytest.raises(NotPublishable, match="in the archive"):
        publish(copilot, user=None)
    with pytest.raises(NotPublishable, match="in the archive"):
        restore(copilot.live)
    entry = {"slug": "news", "name": "N", "provider": copilot.provider.name, "model": "m"}
    with pytest.raises(BadCopilotFile) as caught:
        import_values({"format": 1, "copilots": [entry]}, default_access="key")
    assert str(caught.value) == (
        "copilots[0].slug: the copilot 'news' is in the archive. Restore it first."
    )


def test_start_page_and_pickers_leave_it_out_and_its_transcripts_stay(client: Client) -> None:
    client.force_login(make_user(is_superuser=True))
    copilot = make_published(name="Newsroom")
    now = timezone.now()
    conversation = Conversation.objects.create(
        copilot=copilot, principal="anonymous", first_at=now, last_at=now, title="Why?"
    )
    archive_copilots([copilot.pk])
    assert client.get("/admin/").context["copilots"].cards == []
    assert "Newsroom" not in client.get("/admin/copilot_admin/endpointkey/add/").content.decode()
    transcripts = "/admin/copilot_admin/conversation/"
    assert "Newsroom" in client.get(transcripts).content.decode()
    assert "Why?" in client.get(f"{transcripts}{conversation.pk}/change/").content.decode()
