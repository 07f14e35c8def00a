"""Drafts become versions, whole and unchanged, or say in words why they cannot."""

import pytest

from copilot_admin.agent.components.registry import Registry
from copilot_admin.agent.values.document import spec_from_document
from copilot_admin.agent.values.spec import WidgetDataMode
from copilot_admin.copilots.checklist import content_checks
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.copilots.publishing import (
    NotPublishable,
    apply_document,
    document_of,
    has_changes,
    problems,
    publish,
)
from copilot_admin.models import Copilot, CopilotVersion
from protocol.features import DEFAULT_FEATURES
from tests.agent.components.sample_components import Echo
from tests.factories import make_copilot, make_provider, make_published, make_user

pytestmark = [pytest.mark.database, pytest.mark.django_db]

EVERYTHING = {
    "description": "Reads the news.",
    "image_url": "https://example.com/news.png",
    "system_prompt": "You are {{ copilot.name }}. Tone: {{ options.tone }}.",
    "model_choices": [{"id": "demo", "name": "Demo"}],
    "parameters": {"temperature": 0.2},
    "widget_data": "fetch",
    "features": {"widget-dashboard-select": True},
    "custom_features": [
        {
            "key": "tone",
            "label": "Tone",
            "type": "select",
            "default": "short",
            "options": [{"label": "Short", "value": "short"}],
        }
    ],
    "citations": "off",
    "sees_images": True,
    "show_steps": False,
    "reasoning_steps": True,
    "max_data_tokens": 5000,
    "max_client_calls": 20,
    "client_call_limits": [{"function": "save_skill", "most": 1}],
    "components": [{"name": "calculator", "version": "v1"}],
    "stream_all_text": True,
    "steps": [{"at": "end", "type": "INFO", "message": "Done", "details": {"a": "b"}}],
    "starters": ["What moved?"],
}


def test_first_publishing_makes_version_one_and_puts_it_live():
    copilot = make_copilot()
    user = make_user()

    version = publish(copilot, user=user)

    assert version is not None
    assert (version.number, version.published_by, version.provider) == (1, user, copilot.provider)
    assert Copilot.objects.get().live == version
    assert copilot.live == version


def test_publishing_an_unchanged_draft_makes_no_version():
    copilot = make_published()

    assert publish(copilot, user=None) is None
    assert copilot.versions.count() == 1


def test_every_changed_draft_gets_the_next_number_and_leaves_the_old_version_alone():
    copilot = make_published(system_prompt="one")
    copilot.system_prompt = "two"
    copilot.save()
    assert has_changes(copilot)

    version = publish(copilot, user=None)

    assert version is not None and version.number == 2
    assert [row.document["system_prompt"] for row in copilot.versions.order_by("number")] == [
        "one",
        "two",
    ]


def test_switches_that_act_at_once_are_no_changes():
    copilot = make_published()
    copilot.enabled, copilot.logging, copilot.access = False, "nothing", "key"
    assert not has_changes(copilot)


def test_another_provider_is_a_change_and_a_new_name_of_it_is_none():
    copilot = make_published()
    copilot.provider.name = "Renamed"
    assert not has_changes(copilot)
    copilot.provider = make_provider()
    assert has_changes(copilot)


def test_a_document_holds_everything_that_is_versioned():
    copilot = make_copilot(**EVERYTHING, tools=["table"])
    other = make_copilot(features={"widget-global-search": True})

    document = document_of(copilot)
    copilot.delete()
    apply_document(other, document, provider=copilot.provider)
    other.save()

    assert document_of(Copilot.objects.get()) == document


def test_the_engine_reads_what_was_published():
    copilot = make_published(**EVERYTHING)
    assert copilot.live is not None

    spec = spec_from_document(
        copilot.slug, copilot.live.document, provider_spec(copilot.live.provider)
    )

    assert spec.widget_data is WidgetDataMode.FETCH
    assert spec.features == {"widget-dashboard-select", *DEFAULT_FEATURES}
    assert spec.custom_features[0].options == (("Short", "short"),)
    assert spec.models == (("demo", "Demo"),)
    assert [(step.at, step.message, step.details) for step in spec.steps] == [
        ("end", "Done", {"a": "b"})
    ]


def test_a_draft_with_problems_is_not_published():
    copilot = make_copilot(model="")

    with pytest.raises(NotPublishable) as refused:
        publish(copilot, user=None)

    assert refused.value.public == (
        f"Copilot '{copilot.slug}' cannot be published. Choose a model."
    )
    assert copilot.versions.count() == 0


def test_a_document_of_another_release_is_a_problem_and_no_crash():
    copilot = make_copilot(citations="telepathy")
    assert [problem.field for problem in problems(copilot)] == ["provider"]


def test_a_version_of_an_earlier_release_is_no_change():
    copilot = make_published()
    document = dict(copilot.live.document)
    document.pop("data_messages")
    document["features"] = {"widget-dashboard-select": False}
    CopilotVersion.objects.filter(pk=copilot.live.pk).update(document=document)
    copilot = Copilot.objects.select_related("live").get(pk=copilot.pk)
    assert has_changes(copilot) is False
    copilot.features = {"feedback": True}
    assert has_changes(copilot) is True
    CopilotVersion.objects.filter(pk=copilot.live.pk).update(
        document={**document, "features": None}
    )
    assert has_changes(Copilot.objects.select_related("live").get(pk=copilot.pk)) is False


def test_a_component_with_the_name_of_a_tool_that_is_on_is_a_problem(monkeypatch):
    class Table(Echo):
        name = "table"
        manifests = ({**Echo.manifests[0], "name": "table"},)

    monkeypatch.setattr(content_checks, "registry", lambda: Registry([Table]))
    components = [{"name": "table", "version": "v1"}]
    assert problems(make_copilot(components=components)) == ()
    found = problems(make_copilot(components=components, tools=["table"]))
    assert [one.field for one in found] == ["components"]
