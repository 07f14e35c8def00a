"""Under which address this server is reached stands in a setting, or in the request."""

from django.test import RequestFactory
import pytest

from copilot_admin.http.public_address import base_url


@pytest.mark.parametrize(
    ("setting", "address"),
    [
        ("", "http://testserver"),
        ("https://copilots.example", "https://copilots.example"),
        ("https://copilots.example/admin/", "https://copilots.example/admin"),
    ],
)
def test_the_setting_comes_first_and_no_address_ends_with_a_slash(settings, setting, address):
    settings.PUBLIC_URL = setting
    assert base_url(RequestFactory().get("/copilots.json")) == address
