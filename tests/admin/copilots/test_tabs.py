"""The tabs of the form: which sections they hold, what is counted, and what opens by itself."""

from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.admin.pages import submit
from tests.factories import make_copilot, make_published, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS, username="ada"))
    return client


def url(copilot: Copilot) -> str:
    return reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])


def tabs_in(response: Any) -> dict[str, list[str]]:
    """The sections of each tab: with a + those that are open, with a - those that are folded."""
    return {
        tab.key: [
            f"{'+' if part.is_open else '-' if part.is_folded else ''}{part.fieldset.name}"
            for part in tab.parts
        ]
        for tab in response.context["tabs"]
    }


def faults_in(response: Any) -> dict[str, int]:
    return {tab.key: tab.faults for tab in response.context["tabs"] if tab.faults}


def test_what_few_need_is_folded(builder: Client) -> None:
    page = builder.get(url(make_copilot()))
    assert tabs_in(page) == {
        "basics": ["Identity", "Instructions", "Model", "-Parameters and model picker"],
        "features": ["Features"],
        "data": ["Data and tools", "-Components", "-Data notes", "-Patience"],
        "conversation": ["Steps and starters"],
    }
    assert faults_in(page) == {}


def test_a_new_copilot_has_its_switches_in_a_tab(builder: Client) -> None:
    page = builder.get(reverse("admin:copilot_admin_copilot_add"))
    assert tabs_in(page)["access"] == ["Access and logging"]


@pytest.mark.parametrize(
    ("values", "tab", "opened"),
    [
        ({"parameters": {"seed": 7}}, "basics", "+Parameters and model picker"),
        ({"model_choices": [{"id": "m", "name": "M"}]}, "basics", "+Parameters and model picker"),
        ({"stream_all_text": True}, "data", "+Components"),
        ({"data_notes": [{"kind": "user", "data": {"age": 4}}]}, "data", "+Data notes"),
        ({"max_client_calls": 3}, "data", "+Patience"),
    ],
)
def test_what_is_set_is_not_folded_away(
    builder: Client, values: dict[str, Any], tab: str, opened: str
) -> None:
    assert opened in tabs_in(builder.get(url(make_copilot(**values))))[tab]


def test_what_was_typed_and_is_wrong_is_counted_and_open(builder: Client) -> None:
    typed = {"name": "", "temperature": "9", "max_client_calls": "0"}
    page = submit(builder, url(make_copilot()), typed, form_id="copilot_form")
    assert faults_in(page) == {"basics": 2, "data": 1}
    assert tabs_in(page)["basics"][-1] == "+Parameters and model picker"
    assert tabs_in(page)["data"][-1] == "+Patience"
    assert "2 to mend" in page.content.decode()


def test_what_must_be_mended_before_publishing_is_counted(builder: Client) -> None:
    copilot = make_published()
    copilot.system_prompt = "{{ nobody }}"
    copilot.save()
    assert faults_in(builder.get(url(copilot))) == {"basics": 1}
