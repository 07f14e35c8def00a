"""No page leads its reader to one that is closed to him."""

from collections.abc import Iterator
import re
from urllib.parse import urljoin, urlsplit

from django.test import Client
import pytest

from copilot_admin.config.roles import Role
from tests.admin.access.test_roles import ADDRESSES, browser, things, url_of

__all__ = ["things"]  # a fixture
pytestmark = [pytest.mark.django_db, pytest.mark.nightly]
LINK = re.compile(r'<a\b[^>]*?\bhref="([^"]+)"')


def links_of(client: Client, page: str) -> Iterator[str]:
    """Where a page leads to within the admin; filters and orders aside."""
    answer = client.get(page)
    if answer.status_code != 200 or "text/html" not in answer["Content-Type"]:
        return
    for found in LINK.findall(answer.content.decode()):
        path = urlsplit(urljoin(page, found)).path
        if path.startswith("/admin/") and path != "/admin/logout/":
            yield path


@pytest.mark.parametrize("role", list(Role))
def test_no_link_is_refused(things: dict[str, str], role: Role) -> None:
    client = browser(role)
    asked: dict[str, str] = {}
    for name, route in ADDRESSES:
        page = url_of(name, route, things)
        for link in links_of(client, page):
            asked.setdefault(link, page)
    assert len(asked) > 5
    refused = [
        (link, "on", page) for link, page in asked.items() if client.get(link).status_code == 403
    ]
    assert refused == []
