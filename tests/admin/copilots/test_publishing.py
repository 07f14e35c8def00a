"""Publishing in the admin: asked for, refused with reasons, and never by accident."""

from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.copilots import views
from copilot_admin.copilots.publishing import Draft, drafts_of, publish
from copilot_admin.models import Copilot
from tests.admin.pages import messages_of, publish_url, submit, url_of, values_in
from tests.factories import make_copilot

pytestmark = pytest.mark.django_db


def confirm(client: Client, *copilots: Copilot) -> Any:
    url = publish_url(*copilots)
    values = values_in(client.get(url).content.decode(), form_id="publish-form")
    return client.post(url, values, follow=True)


def test_the_button_saves_the_draft_and_asks_before_anything_goes_live(builder: Client) -> None:
    copilot = make_copilot(name="News")
    url = url_of(copilot)
    response = submit(
        builder, url, {"description": "New"}, form_id="copilot_form", button="_publish"
    )
    copilot.refresh_from_db()
    assert (copilot.description, copilot.live) == ("New", None)
    assert response.redirect_chain == [(publish_url(copilot), 302)]
    assert f'data-publish="{copilot.slug}"' in response.content.decode()


def test_confirming_makes_a_version_in_the_name_of_the_builder(builder: Client) -> None:
    copilot = make_copilot(name="News")
    response = confirm(builder, copilot)
    copilot.refresh_from_db()
    assert copilot.live is not None
    assert copilot.live.published_by is not None
    assert copilot.live.published_by.get_username() == "ada"
    assert len(messages_of(response)) == 1
    assert reverse("connect:page", args=[copilot.pk]) in messages_of(response)[0]
    assert response.context["copilot_header"]["tone"] == "good"


def test_a_draft_that_changed_after_looking_is_not_published(builder: Client) -> None:
    copilot = make_copilot(name="News")
    url = publish_url(copilot)
    values = values_in(builder.get(url).content.decode(), form_id="publish-form")
    copilot.description = "Changed by somebody else"
    copilot.save()
    response = builder.post(url, values, follow=True)
    assert len(messages_of(response)) == 1
    copilot.refresh_from_db()
    assert copilot.live is None


@pytest.mark.database
def test_of_two_who_publish_at_once_the_second_is_told_that_it_is_live(
    builder: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    copilot = make_copilot(name="News")

    def drafts_before_somebody_else_publishes(copilots: list[Copilot]) -> list[Draft]:
        drafts = drafts_of(copilots)
        publish(Copilot.objects.get(pk=copilot.pk), user=None)
        return drafts

    values = values_in(builder.get(publish_url(copilot)).content.decode(), form_id="publish-form")
    monkeypatch.setattr(views, "drafts_of", drafts_before_somebody_else_publishes)
    response = builder.post(publish_url(copilot), values, follow=True)
    assert len(messages_of(response)) == 1
    assert copilot.versions.count() == 1


def test_the_note_of_a_version_is_proposed_and_may_be_another(builder: Client) -> None:
    copilot = make_copilot(name="News")
    url = publish_url(copilot)
    values = values_in(builder.get(url).content.decode(), form_id="publish-form")
    assert values[f"note-{copilot.pk}"] == ["First version"]
    builder.post(url, {**values, f"note-{copilot.pk}": ["  For \u202ethe \n desk  "]})
    copilot.refresh_from_db()
    copilot.description, copilot.model = "Second", "demo-2"
    copilot.save()
    values = values_in(builder.get(url).content.decode(), form_id="publish-form")
    assert values[f"note-{copilot.pk}"] == ["Description, Model"]
    builder.post(url, {**values, f"note-{copilot.pk}": ["x" * 400]})
    notes = list(copilot.versions.order_by("number").values_list("note", flat=True))
    assert notes == ["For the desk", "x" * 300]
