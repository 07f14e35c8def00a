"""HTML of an answer is drawn in a frame that can do nothing, for whoever asked."""

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.admin.playground.test_playground import ask, form_of, script
from tests.agent.scripted import call, text
from tests.factories import make_copilot, make_user

pytestmark = pytest.mark.django_db(transaction=True)
HTML = '<p style="color: red">4.5 %</p>'


@pytest.fixture
def copilot(monkeypatch, builder, ada) -> Copilot:
    """Ada was shown HTML by it."""
    made = make_copilot(tools=["html"])
    shown = {"name": "Card", "description": "A figure.", "html": f"{HTML}<script>x()</script>"}
    script(monkeypatch, call("html", **shown), text("Here."))
    ask(ada, made.pk, form_of(builder, made))
    return made


def address_in(client: Client, copilot: Copilot) -> str:
    page = client.get(reverse("playground:answer", args=[copilot.pk]) + "?chat=t-1")
    _, _, after = page.content.decode().partition('<iframe class="ca-frame" sandbox src="')
    return after.partition('"')[0].replace("&amp;", "&")


def test_the_html_stands_in_a_frame_without_scripts_and_origin(builder, copilot):
    response = builder.get(address_in(builder, copilot))
    box = f'<div style="height:100%;overflow:auto">{HTML}</div>'
    assert response.content.decode() == f"<!DOCTYPE html><meta charset=utf-8>{box}"
    policy = response["Content-Security-Policy"].split("; ")
    assert policy == [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data:",
        "frame-ancestors 'self'",
        "sandbox",
    ]
    page = builder.get(reverse("admin:copilot_admin_copilot_change", args=[copilot.pk]))
    assert page["Content-Security-Policy"].endswith("; frame-src 'self'")


def test_a_key_of_something_else_finds_nothing(builder, copilot):
    address = address_in(builder, copilot)
    assert builder.get(f"{address}0").status_code == 404
    assert builder.get(address.partition("&key")[0]).status_code == 404
    assert builder.get(address.replace("t-1", "t-2")).status_code == 404


def test_nobody_else_sees_it(builder, copilot):
    address = address_in(builder, copilot)
    builder.force_login(make_user(Role.BUILDERS))
    assert builder.get(address).status_code == 404
    builder.force_login(make_user(Role.REVIEWERS))
    assert builder.get(address).status_code == 403
