"""A template with a model picker: whoever copies it names the models."""

from typing import Any

from django.core.management import CommandError, call_command
from django.test import Client
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Copilot
from tests.admin.pages import submit
from tests.factories import make_provider, make_user

pytestmark = pytest.mark.django_db

GALLERY = "/admin/copilot_admin/copilot/templates/"


def picked(slug: str) -> list[str]:
    return [row["id"] for row in Copilot.objects.get(slug=slug).model_choices]


def test_the_gallery_asks_which_models_there_are_to_choose_from(client: Client):
    client.force_login(make_user(Role.BUILDERS))
    provider = make_provider(kind="openai_compatible", base_url="http://127.0.0.1:9100/v1")
    assert "other_models" not in client.get(f"{GALLERY}charts/").content.decode()
    chosen: dict[str, Any] = {"slug": "mine", "provider": provider.pk, "model": "m-1"}
    others = " m-2,, m-3 , m-1 "
    submit(
        client,
        f"{GALLERY}custom-options/",
        {**chosen, "other_models": others},
        form_id="template-form",
    )
    assert picked("mine") == ["m-1", "m-2", "m-3"]


def test_without_others_the_picker_offers_the_one_that_answers():
    call_command("copilots", "new", "custom-options", slug="mine")
    assert picked("mine") == ["rehearsal"]
    call_command("copilots", "new", "charts", slug="plain")
    assert picked("plain") == []


def test_the_command_refuses_other_models_for_a_template_without_a_picker():
    with pytest.raises(CommandError, match="The template 'charts' has no model picker"):
        call_command("copilots", "new", "charts", slug="mine", other_models=["x"])
