"""A browser is told which copy of somebody's typing was saved, and may have its copy drawn."""

from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.admin.pages import merged, read_form
from tests.factories import make_copilot, make_user

pytestmark = pytest.mark.django_db
COPY = "0123456789abcdef" * 2


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS, username="ada"))
    return client


def send(client: Client, copilot: Copilot, **values: Any) -> Any:
    address = reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])
    return client.post(address, merged(read_form(client, address, form_id="copilot_form"), values))


def test_what_was_saved_is_named_for_the_admin_alone(builder: Client) -> None:
    cookie = send(builder, make_copilot(), copy=COPY, _continue="x").cookies["ca_saved"]
    assert (cookie.value, cookie["path"], cookie["samesite"]) == (COPY, "/admin/", "Strict")


@pytest.mark.parametrize("copy", ["", "x", COPY + "0", COPY.upper(), "a; path=/"])
def test_what_is_no_name_of_a_copy_is_not_sent_back(builder: Client, copy: str) -> None:
    assert "ca_saved" not in send(builder, make_copilot(), copy=copy, _continue="x").cookies


def test_what_was_not_saved_is_kept(builder: Client) -> None:
    response = send(builder, make_copilot(), copy=COPY, name="")
    assert response.status_code == 200
    assert "ca_saved" not in response.cookies


def test_a_copy_is_drawn_and_not_saved(builder: Client) -> None:
    copilot = make_copilot()
    response = send(builder, copilot, description="Half a thought", _look="1")
    page = response.content.decode()
    assert "Half a thought" in page
    assert "data-ca-typed" in page
    assert "errornote" not in page
    copilot.refresh_from_db()
    assert copilot.description == ""
