"""A template with a model picker: whoever copies it names the models."""

from django.core.management import CommandError, call_command
import pytest

from copilot_admin.models import Copilot

pytestmark = pytest.mark.django_db

GALLERY = "/admin/copilot_admin/copilot/templates/"


def picked(slug: str) -> list[str]:
    return [row["id"] for row in Copilot.objects.get(slug=slug).model_choices]


def test_without_others_the_picker_offers_the_one_that_answers():
    call_command("copilots", "new", "custom-options", slug="mine")
    assert picked("mine") == ["demo"]
    call_command("copilots", "new", "charts", slug="plain")
    assert picked("plain") == []


def test_the_command_refuses_other_models_for_a_template_without_a_picker():
    with pytest.raises(CommandError, match="The template 'charts' has no model picker"):
        call_command("copilots", "new", "charts", slug="mine", other_models=["x"])
