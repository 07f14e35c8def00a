"""A column of the playground asks the draft, a version, or the draft with another model."""

from typing import Any

from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.copilots.publishing import publish
from copilot_admin.evaluation.versions import VersionFigures, figures_of
from copilot_admin.models import Copilot, CopilotVersion, DailyUsage, Run
from tests.admin.pages import merged
from tests.admin.playground.test_playground import ask, form_of, script
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


@pytest.mark.database
def test_a_version_that_is_tried_and_judged_counts_in_no_figure(monkeypatch, builder, ada, copilot):
    script(monkeypatch, text("Hi."))
    ask(ada, copilot.pk, {"playground-version": "1"})
    url = reverse("playground:judge", args=[copilot.pk])
    builder.post(url, {"turn": Run.objects.get().turn_id, "vote": "thumbs_down"})
    version = CopilotVersion.objects.get(number=1)
    assert figures_of(copilot, [version]) == {version.pk: VersionFigures()}
    assert DailyUsage.objects.count() == 0


@pytest.mark.parametrize("wanted", ["3", "0", "x", "9" * 20, "9" * 5000, "²"])
def test_a_version_that_is_not_there_is_named(ada, copilot, wanted):
    assert ask(ada, copilot.pk, {"playground-version": wanted}) == (
        404,
        {
            "detail": f"There is no version {wanted[:20]} of this copilot. Choose another.",
            "code": "not-found",
        },
    )


def test_nothing_live_is_said(ada):
    status, said = ask(ada, make_copilot().pk, {"playground-version": "live"})
    assert status == 404
    assert said["detail"] == "Nothing of this copilot is live. Choose a version or the draft."


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


@pytest.mark.parametrize(
    ("provider", "model", "status", "sentence"),
    [
        ("4711", "m", 404, "The provider of this column is gone. Choose another."),
        ("", "m", 404, "The provider of this column is gone. Choose another."),
        ("x", "m", 404, "The provider of this column is gone. Choose another."),
        (None, " ", 422, "Write which model answers in this column."),
        (None, "m" * 201, 422, "Write which model answers in this column."),
    ],
)
def test_a_column_that_cannot_answer_says_what_to_do(
    builder, ada, copilot, provider, model, status, sentence
):
    provider = str(copilot.provider_id) if provider is None else provider
    fields = {"playground-provider": provider, "playground-model": model}
    found, said = ask(ada, copilot.pk, other_model(builder, copilot, **fields))
    assert (found, said["detail"]) == (status, sentence)


@pytest.mark.database
def test_the_choices_are_the_versions_newest_first_and_the_providers(builder, copilot):
    copilot.versions.filter(number=1).update(note="<b>First</b>")
    url = reverse("playground:choices", args=[copilot.pk])
    assert builder.get(url).json() == {
        "versions": [
            {"value": "live", "label": "Live: version 2"},
            {"value": "1", "label": "Version 1 · <b>First</b>"},
        ],
        "providers": [{"value": str(copilot.provider_id), "label": "One"}],
    }
