"""Ids in addresses: what no column holds leads nowhere."""

from collections.abc import Iterator

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.converters import IntConverter
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.http.path_ids import IdConverter
from copilot_admin.runs.watching import websocket_urlpatterns
from tests.factories import make_user

Address = URLPattern | URLResolver


def addresses(patterns: list[Address]) -> Iterator[Address]:
    for one in patterns:
        yield one
        if isinstance(one, URLResolver):
            yield from addresses(one.url_patterns)


def test_no_address_takes_a_number_of_any_length():
    known = [*addresses(get_resolver().url_patterns), *websocket_urlpatterns]
    converters = [kind for one in known for kind in one.pattern.converters.values()]
    assert any(isinstance(kind, IdConverter) for kind in converters)
    assert [kind for kind in converters if type(kind) is IntConverter] == []


@pytest.mark.parametrize("digits", ["9" * 18, "9" * 19, "9" * 400, "0" * 19])
@pytest.mark.parametrize("address", ["/admin/playground/{}/answer/", "/admin/connect/{}/"])
def test_a_number_beyond_any_row_leads_nowhere(db, address, digits):
    client = Client()
    client.force_login(make_user(Role.BUILDERS))
    assert client.get(address.format(digits)).status_code == 404
