"""A version is put into the form of its copilot: nothing is saved, and what was typed comes back."""

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.copilots.publishing import publish
from copilot_admin.models import Copilot, CopilotVersion
from tests.admin.pages import Values, merged, read_form, values_in
from tests.factories import make_copilot, make_provider, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS))
    return client


@pytest.fixture
def copilot() -> Copilot:
    """Version 1 says "First", version 2 and the draft say "Second"."""
    made = make_copilot(description="First", provider=make_provider(name="One"))
    publish(made, user=None)
    made.description = "Second"
    made.save()
    publish(made, user=None)
    return made


def url_of(copilot: Copilot) -> str:
    return reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])


def typed_form(client: Client, copilot: Copilot, text: str = "Typed\n & <b>") -> Values:
    form = read_form(client, url_of(copilot), form_id="copilot_form")
    return merged(form, {"description": [text]})


def take(client: Client, copilot: Copilot, version: str, text: str = "Typed\n & <b>") -> str:
    form = typed_form(client, copilot, text)
    response = client.post(url_of(copilot), {**form, "_version": version})
    assert response.status_code == 200
    return response.content.decode()


def test_the_form_says_what_the_version_says_and_nothing_is_saved(builder, copilot):
    page = take(builder, copilot, "1")
    assert "The form says what version 1 says." in page
    assert values_in(page, form_id="copilot_form")["description"] == ["First"]
    assert "data-ca-typed" in page
    copilot.refresh_from_db()
    assert copilot.description == "Second"


def test_what_stood_there_before_comes_back_word_for_word(builder, copilot):
    page = take(builder, copilot, "1")
    before = values_in(page, form_id="typed-before")
    assert before["description"] == ["Typed\n & <b>"]
    again = builder.post(url_of(copilot), before).content.decode()
    assert values_in(again, form_id="copilot_form")["description"] == ["Typed\n & <b>"]
    copilot.refresh_from_db()
    assert copilot.description == "Second"


def test_what_is_live_and_the_form_of_it_can_be_saved(builder, copilot):
    page = take(builder, copilot, "live")
    assert "The form says what version 2 says." in page
    form = values_in(take(builder, copilot, "1"), form_id="copilot_form")
    assert builder.post(url_of(copilot), {**form, "_continue": "1"}).status_code == 302
    copilot.refresh_from_db()
    assert (copilot.description, copilot.live.number) == ("First", 2)


def test_a_version_that_is_not_there_leaves_what_was_typed(builder):
    copilot = make_copilot()
    form = typed_form(builder, copilot)
    for version in ("7", "live", "x", ""):
        page = builder.post(url_of(copilot), {**form, "_version": version}).content.decode()
        assert "This version is not there any more." in page
        assert values_in(page, form_id="copilot_form")["description"] == ["Typed\n & <b>"]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"of_tomorrow": "good"}, "This one does not know: of_tomorrow."),
        ({"widget_data": "telepathy"}, "This one cannot read all that it says."),
    ],
)
def test_a_version_of_another_release_is_no_draft_here(builder, copilot, more, sentence):
    first = CopilotVersion.objects.get(number=1)
    CopilotVersion.objects.filter(pk=first.pk).update(document={**first.document, **more})
    page = take(builder, copilot, "1")
    assert sentence in page
    assert values_in(page, form_id="copilot_form")["description"] == ["Typed\n & <b>"]
    for name in ("restore", "again"):
        url = reverse(f"admin:copilot_admin_copilot_{name}", args=[copilot.pk, 1])
        assert sentence in builder.post(url, {"keep": "on"}, follow=True).content.decode()
    assert Copilot.objects.get().description == "Second"
    assert CopilotVersion.objects.count() == 2


def test_the_uploaded_image_of_the_version_comes_with_it(builder, copilot):
    first = CopilotVersion.objects.get(number=1)
    document = {**first.document, "image": "copilots/a.png"}
    CopilotVersion.objects.filter(pk=first.pk).update(document=document)
    form = values_in(take(builder, copilot, "1"), form_id="copilot_form")
    assert form["image_of"] == ["1"]
    builder.post(url_of(copilot), {**form, "_continue": "1"})
    copilot.refresh_from_db()
    assert copilot.image.name == "copilots/a.png"
    form = values_in(take(builder, copilot, "2"), form_id="copilot_form")
    builder.post(url_of(copilot), {**form, "_continue": "1"})
    copilot.refresh_from_db()
    assert copilot.image.name == ""


def test_whoever_makes_no_copilots_takes_no_version(client, copilot):
    client.force_login(make_user(Role.REVIEWERS))
    assert client.post(url_of(copilot), {"_version": "1"}).status_code == 403


def test_a_copilot_that_is_gone_is_said_to_be(builder, copilot):
    response = builder.post(url_of(copilot).replace(str(copilot.pk), "4711"), {"_version": "1"})
    assert (response.status_code, b"This is not there any more" in response.content) == (404, True)
