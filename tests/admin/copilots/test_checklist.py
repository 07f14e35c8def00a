"""The checklist before publishing: what stops, what does not, and the way to each field."""

from html import unescape
import re

from django.test import Client
import pytest

from copilot_admin.copilots.checklist.findings import Finding
from copilot_admin.copilots.config import FIELDS_BY_KEY, VERSIONED_FIELDS
from copilot_admin.models import Copilot
from tests.admin.pages import publish_url, url_of
from tests.factories import make_copilot, make_provider

pytestmark = pytest.mark.django_db
CLEAN = {"system_prompt": "Answer.", "description": "Reads.", "widget_data": "off"}
BOTH = {"temperature": 1, "top_p": 1}


def page_of(client: Client, *copilots: Copilot) -> str:
    return " ".join(unescape(client.get(publish_url(*copilots)).content.decode()).split())


def links_in(page: str, copilot: Copilot) -> list[str]:
    return re.findall(rf'href="{url_of(copilot)}#([^"]+)"', page)


def test_errors_stop_and_warnings_stand_below_them(builder: Client) -> None:
    copilot = make_copilot(**{**CLEAN, "system_prompt": "{{ today"}, parameters=BOTH)
    page = page_of(builder, copilot)
    assert 'data-checklist="errors"' in page
    assert 'name="draft"' not in page
    assert links_in(page, copilot) == ["id_system_prompt", "id_top_p"]
    builder.post(publish_url(copilot), {"draft": f"{copilot.pk}:whatever"})
    assert copilot.versions.count() == 0


def test_every_field_that_may_be_named_has_its_input_on_the_page(builder: Client) -> None:
    copilot = make_copilot(**CLEAN)
    page = builder.get(url_of(copilot)).content.decode()
    page += builder.get(url_of(copilot).replace("change", "settings")).content.decode()
    fields = (*VERSIONED_FIELDS, FIELDS_BY_KEY["enabled"], FIELDS_BY_KEY["access"])
    found = [Finding(code="", field=field.key, sentence="") for field in fields]
    inputs = ("temperature", "top_p", "max_tokens")
    found += [Finding(code="", field="parameters", sentence="", at=at) for at in inputs]
    assert [one.anchor for one in found if page.count(f'id="{one.anchor}"') != 1] == []


def test_the_page_of_a_copilot_shows_its_checklist_in_a_fold(builder: Client) -> None:
    copilot = make_copilot(**CLEAN, parameters={**BOTH, "presence_penalty": 3})
    response = builder.get(url_of(copilot))
    found = response.context["checklist"]
    assert (len(found.errors), len(found.warnings)) == (1, 1)
    assert "data-checklist" in response.content.decode()
    assert next(fold["is_open"] for fold in response.context["folds"])
    clean = builder.get(url_of(make_copilot(**CLEAN))).content.decode()
    assert "data-checklist" not in clean


def test_a_provider_that_nobody_asked_lately_is_asked_beside_the_page(builder: Client) -> None:
    copilot = make_copilot(**CLEAN, provider=make_provider(name="Ours"), model="rehersal")
    unknown = "data-unasked"
    page = page_of(builder, copilot)
    assert unknown in page
    assert f'data-ca-checklist="{url_of(copilot, "checklist")}?part=1"' in page
    part = unescape(builder.post(f"{url_of(copilot, 'checklist')}?part=1").content.decode())
    told = "“rehersal”"
    assert told in part
    assert unknown not in part
    assert "<button" not in part
    page = page_of(builder, copilot)
    assert told in page
    assert unknown not in page
