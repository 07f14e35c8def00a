"""Who was logged out while sending something comes back to the page from which it was sent."""

from urllib.parse import parse_qs

from django.test import Client
import pytest

from copilot_admin.config.roles import Role
from tests.factories import make_copilot, make_user

pytestmark = pytest.mark.django_db
PAGE = "/admin/copilot_admin/copilot/{}/questions/"
BUTTON = PAGE + "ask/?page=1"  # has no page of its own


@pytest.mark.parametrize(
    ("referer", "following"),
    [
        ("http://testserver{page}?page=2", "{page}?page=2"),
        ("", "{button}"),
        ("https://elsewhere.example{page}", "{button}"),
        ("javascript:alert(1)", "{button}"),
        ("//elsewhere.example{page}", "{button}"),
    ],
)
def test_a_log_in_leads_back_to_where_a_button_was_pressed(referer: str, following: str) -> None:
    copilot = make_copilot()
    parts = {"page": PAGE.format(copilot.pk), "button": BUTTON.format(copilot.pk)}
    answer = Client().post(parts["button"], headers={"Referer": referer.format(**parts)})
    assert answer.status_code == 302
    path, _, query = answer["Location"].partition("?")
    assert (path, parse_qs(query)) == ("/admin/login/", {"next": [following.format(**parts)]})


def test_who_is_logged_in_is_answered_at_once_and_who_looks_comes_back_to_the_same_page() -> None:
    page = PAGE.format(make_copilot().pk)
    client = Client()
    assert client.get(page)["Location"] == f"/admin/login/?next={page}"
    client.force_login(make_user(Role.BUILDERS))
    assert client.get(page).status_code == 200
    assert client.post("/admin/logout/").status_code == 200
    assert client.post("/admin/logout/")["Location"] == "/admin/"


def test_a_search_that_is_too_long_to_come_back_to_keeps_nobody_from_logging_in() -> None:
    page = PAGE.format(make_copilot().pk)
    long = "?q=" + "%D8%B4" * 2500
    for answer in (
        Client().get(page + long),
        Client().post(page, headers={"Referer": f"http://testserver{page}{long}"}),
    ):
        assert (answer.status_code, answer["Location"]) == (302, f"/admin/login/?next={page}")
