"""The pages of versions: read, compared, brought back into the draft, published again."""

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.copilots.publishing import publish
from copilot_admin.models import Copilot
from tests.admin.pages import messages_of, values_in
from tests.factories import make_published

pytestmark = pytest.mark.django_db


@pytest.fixture
def copilot() -> Copilot:
    """Two versions, and a draft that differs from both."""
    found = make_published(name="News", slug="news", description="One")
    found.description = "Two"
    found.save()
    publish(found, user=None, note="For the desk")
    found.description = "Three"
    found.save()
    return found


def url(name: str, *arguments: object) -> str:
    return reverse(f"admin:copilot_admin_copilot_{name}", args=arguments)


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.mark.database
def test_the_list_says_who_made_what_why_and_what_became_of_it(builder, copilot):
    page = text_of(builder, url("versions", copilot.pk))
    assert page.count("data-version=") == 2
    assert page.count(">Live</span>") == 1
    assert page.count("For the desk") == 1
    assert "Description" not in page  # the note says enough


def test_the_draft_is_compared_with_what_is_live_unless_others_are_chosen(builder, copilot):
    page = text_of(builder, url("compare", copilot.pk))
    assert "<del>Two</del><ins>Three</ins>" in page
    page = text_of(builder, url("compare", copilot.pk) + "?before=1&after=2")
    assert 'data-changes="1"' in page
    assert "<del>One</del><ins>Two</ins>" in page
    page = text_of(builder, url("compare", copilot.pk) + "?before=2&after=2")
    assert 'data-changes="0"' in page


@pytest.mark.database
def test_a_version_becomes_the_draft_after_a_look_and_the_draft_is_kept(builder, copilot):
    address = url("restore", copilot.pk, 1)
    page = text_of(builder, address)
    assert "<del>Three</del><ins>One</ins>" in page
    response = builder.post(address, values_in(page, form_id="restore-form"), follow=True)
    assert len(messages_of(response)) == 2
    copilot.refresh_from_db()
    assert (copilot.description, copilot.live.number) == ("One", 2)
    assert Copilot.objects.get(name="News (copy)").description == "Three"


def test_what_somebody_saves_after_the_page_was_opened_is_not_replaced_unseen(builder, copilot):
    address = url("restore", copilot.pk, 1)
    values = values_in(builder.get(address).content.decode(), form_id="restore-form")
    copilot.description = "Theirs"
    copilot.save()
    response = builder.post(address, values, follow=True)
    copilot.refresh_from_db()
    assert (copilot.description, Copilot.objects.count()) == ("Theirs", 1)
    assert len(messages_of(response)) == 1
    assert "<del>Theirs</del><ins>One</ins>" in response.content.decode()


def test_rolling_back_is_confirmed_with_checks_and_differences_and_the_draft_stays(
    builder, copilot
):
    page = text_of(builder, url("again", copilot.pk, 1))
    assert "data-checklist=" in page
    assert "<del>Two</del><ins>One</ins>" in page
    copilot.refresh_from_db()
    assert copilot.live.number == 2
    response = builder.post(url("again", copilot.pk, 1), follow=True)
    assert len(messages_of(response)) == 1
    copilot.refresh_from_db()
    live = copilot.live
    assert (live.number, live.document["description"]) == (3, "One")
    assert (live.note, live.published_by.get_username()) == ("Version 1 again", "ada")
    assert copilot.description == "Three"


def test_a_version_that_cannot_answer_any_more_is_refused_in_words(builder, copilot):
    version = copilot.versions.get(number=1)
    version.document = {**version.document, "tools": ["gone"]}
    version.save()
    response = builder.post(url("again", copilot.pk, 1), follow=True)
    assert len(messages_of(response)) == 1
    copilot.refresh_from_db()
    assert copilot.live.number == 2
