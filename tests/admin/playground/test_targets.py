"""Targets of a question: the draft, a version, or the draft with another model."""

import re
from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.copilots.providers import keep_models
from copilot_admin.copilots.publishing import publish
from copilot_admin.models import Copilot, Run
from tests.admin.pages import merged
from tests.admin.playground.conftest import ask, form_of, script
from tests.agent.scripted import text
from tests.factories import make_copilot, make_provider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def copilot(transactional_db: None) -> Copilot:
    """Versions 1 and 2 say so in their prompts; the second is live."""
    made = make_copilot(system_prompt="Number one", provider=make_provider(name="One"))
    publish(made, user=None)
    made.system_prompt = "Number two"
    made.save()
    publish(made, user=None)
    return made


@pytest.mark.parametrize(("wanted", "number"), [("1", 1), ("2", 2), ("live", 2)])
def test_a_version_answers_without_the_form(monkeypatch, ada, copilot, wanted, number):
    provider = script(monkeypatch, text("Hi."))
    status, _ = ask(ada, copilot.pk, {"playground-version": wanted})
    assert status == 200
    prompt = {1: "Number one", 2: "Number two"}[number]
    assert provider.calls[0].messages[0].text.startswith(prompt)
    run = Run.objects.get()
    assert (run.principal, run.copilot_version.number) == (f"playground:{ada.pk}", number)


@pytest.mark.parametrize("wanted", ["3", "0", "x", "9" * 20, "9" * 5000, "²", "live"])
def test_a_version_that_does_not_exist_is_an_error(ada, wanted):
    status, error = ask(ada, make_copilot().pk, {"playground-version": wanted})
    assert (status, error["code"]) == (404, "not-found")


def other_model(builder: Client, copilot: Copilot, **more: Any) -> Any:
    form = form_of(builder, copilot)
    return merged(form, {name: [str(value)] for name, value in more.items()})


def test_another_model_answers_what_is_typed_whatever_users_may_pick(
    monkeypatch, builder, ada, copilot
):
    copilot.model_choices = [{"id": "picked", "name": "Picked"}]
    copilot.save()
    provider = script(monkeypatch, text("Hi."))
    other = make_provider(name="Other")
    form = other_model(
        builder,
        copilot,
        **{
            "system_prompt": "Typed prompt",
            "playground-provider": other.pk,
            "playground-model": "m-2",
        },
    )
    query = {"messages": [{"role": "human", "content": "Hello"}], "model": "picked"}
    status, _ = ask(ada, copilot.pk, form, query)
    assert status == 200
    assert provider.calls[0].model == "m-2"
    assert provider.calls[0].messages[0].text.startswith("Typed prompt")
    run = Run.objects.get()
    assert (run.provider, run.model, run.copilot_version) == ("Other", "m-2", None)
    copilot.refresh_from_db()
    assert (copilot.provider.name, copilot.model_choices) == (
        "One",
        [{"id": "picked", "name": "Picked"}],
    )


@pytest.mark.database
def test_the_menu_has_earlier_versions_and_the_models_of_providers(builder, copilot):
    copilot.versions.filter(number=1).update(note="<b>First</b>")
    keep_models(copilot.provider_id, ("small", "large"))
    page = builder.get(reverse("playground:targets", args=[copilot.pk])).content.decode()
    assert re.findall(r'data-play-version="(\w+)"', page) == ["1"]
    assert "&lt;b&gt;First" in page
    assert re.findall(r'data-play-model="(\w+)"', page) == ["small", "large"]
    assert re.findall(r'<option value="(\d+)"', page) == [str(copilot.provider_id)]
