"""Addresses of static files are those that Django gives."""

from django.contrib.staticfiles.storage import StaticFilesStorage, staticfiles_storage
from django.templatetags.static import static
import pytest

from copilot_admin.rendering.static_addresses import AddressesKept


@pytest.mark.parametrize(
    "name", ["copilot_admin/css/copilot.css", "a b/ü?x#y.js", "", "../up.js", "//other.example/x"]
)
def test_an_address_is_djangos_at_the_first_time_and_later(name: str) -> None:
    kept, stock = AddressesKept(), StaticFilesStorage()
    assert [kept.url(name), kept.url(name)] == [stock.url(name)] * 2


def test_pages_take_theirs_from_here() -> None:
    assert staticfiles_storage.__class__ is AddressesKept
    assert static("copilot_admin/css/copilot.css") == "/static/copilot_admin/css/copilot.css"
