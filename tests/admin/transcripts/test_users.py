"""Reviewers see which user asked, as text and nothing else, and find the others of his."""

from django.test import Client as Browser
import pytest

from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import EndUser
from tests.transcripts.store.journaling import Client as Asking

pytestmark = pytest.mark.django_db
LIST = "/admin/copilot_admin/conversation/"
COLUMN = "column-asked_by"
HOSTILE = "<img src=x onerror=alert(1)>\"'&{{ user.email }}"


def test_the_column_is_there_once_a_user_is_known(reviewer: Browser):
    Asking().ask("Hello").answer("Hi.")
    assert COLUMN not in reviewer.get(LIST).content.decode()
    Asking(user=AskingUser(id="u/1&x=y", name="Zoë")).ask("Hello").answer("Hi.")
    page = reviewer.get(LIST).content.decode()
    assert COLUMN in page
    assert (
        '<a href="?user=u%2F1%26x%3Dy" title="u/1&amp;x=y"><bdi>Zoë</bdi></a>' in page
    )  # the direction of a name ends with it


@pytest.mark.parametrize(
    ("user", "shown"),
    [
        (AskingUser(id="u-1", email="a@b.example", name="Ada"), "Ada"),
        (AskingUser(id="u-1", email="a@b.example"), "a@b.example"),
        (AskingUser(id="u-1"), "u-1"),
    ],
)
def test_a_user_goes_by_what_people_know_him_by(user: AskingUser, shown: str):
    Asking(user=user).ask("Hello")
    assert str(EndUser.objects.get()) == shown


def test_what_a_token_says_is_text_on_every_page(reviewer: Browser):
    user = AskingUser(id=HOSTILE, email=HOSTILE, name=HOSTILE)
    asked = Asking(user=user).ask("Hello").answer("Hi.")
    found = reviewer.get(LIST, {"user": HOSTILE})
    assert [row.pk for row in found.context["cl"].result_list] == [asked.accepted.conversation_id]
    page = reviewer.get(f"{LIST}{asked.accepted.conversation_id}/change/")
    for text in (found.content.decode(), page.content.decode()):
        assert "<img src=x" not in text
        assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "Copy the id of the user" in page.content.decode()
    assert "Copy the id of the user" not in (
        reviewer.get(f"{LIST}{_anonymous()}/change/").content.decode()
    )


def _anonymous() -> int | None:
    return Asking().ask("Hello").answer("Hi.").accepted.conversation_id
