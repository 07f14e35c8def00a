"""Copilots made from templates; `tests/conformance` asks them."""

from django.core.management import call_command
from django.core.management.base import CommandError
import pytest

from copilot_admin.import_export.templates import templates
from copilot_admin.models import Copilot, Provider
from tests.factories import make_copilot, make_provider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("slug", sorted(templates()))
def test_every_template_can_be_published_at_once_and_tried(slug):
    call_command("copilots", "new", slug, "--slug", f"my-{slug}", "--publish")
    copilot = Copilot.objects.get(slug=f"my-{slug}")
    assert copilot.live is not None
    assert (copilot.name, copilot.description) == (
        templates()[slug].name,
        templates()[slug].entry["description"],
    )
    assert templates()[slug].starters


@pytest.mark.parametrize(
    "arguments",
    [
        ["telepathy", "--slug", "a"],
        ["charts", "--slug", "taken"],
        ["charts", "--slug", "A b"],
        ["charts", "--slug", "a", "--provider", "x"],
        ["charts", "--slug", "a", "--provider", "local"],
    ],
)
def test_wrong_arguments_change_nothing(arguments):
    make_copilot(slug="taken")
    make_provider(name="local", kind="openai_compatible", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(CommandError):
        call_command("copilots", "new", *arguments)
    assert Copilot.objects.count() == 1


def test_provider_and_model_can_be_chosen_and_names_stay_unique():
    make_provider(name="local", kind="openai_compatible", base_url="http://127.0.0.1:9/v1")
    for slug in ("one", "two"):
        call_command("copilots", "new", "charts", slug=slug, provider="local", model="m")
    rows = Copilot.objects.order_by("pk").values_list("name", "provider__name", "model", "live")
    assert list(rows) == [("Charts", "local", "m", None), ("Charts 2", "local", "m", None)]


def test_without_a_choice_the_demo_provider_is_taken_or_made():
    for name in ("a", "b"):
        make_provider(name=name, kind="openai_compatible", base_url="http://127.0.0.1:9/v1")
    call_command("copilots", "new", "charts", "--slug", "charts")
    assert Copilot.objects.get().provider == Provider.objects.get(kind="demo")
