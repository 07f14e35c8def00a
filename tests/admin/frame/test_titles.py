"""What a tab of the browser, and a screen reader first of all, calls a page."""

import html
import re

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.admin.frame.site import site
from tests.factories import make_user

pytestmark = pytest.mark.django_db

_TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
_HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)


def title_and_heading(client: Client, address: str) -> tuple[str, str]:
    page = client.get(address, follow=True).content.decode()
    title, heading = _TITLE.search(page), _HEADING.search(page)
    assert title is not None
    assert heading is not None
    return html.unescape(title[1]), html.unescape(heading[1])


def test_a_list_is_called_by_what_is_in_it(client: Client) -> None:
    client.force_login(make_user(is_superuser=True))
    named = [
        title_and_heading(
            client, reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_changelist")
        )
        for model in site._registry
    ]
    assert [title for title, _ in named] == [f"{heading} · Copilot Admin" for _, heading in named]


def test_the_archive_is_called_so(client: Client) -> None:
    client.force_login(make_user(is_superuser=True))
    address = reverse("admin:copilot_admin_copilot_changelist") + "?state=archived"
    assert title_and_heading(client, address) == ("Archive · Copilot Admin", "Archive")


def test_a_search_says_what_it_looks_at() -> None:
    silent = [
        model.__name__
        for model, page in site._registry.items()
        if page.search_fields and not page.search_help_text
    ]
    assert silent == []
