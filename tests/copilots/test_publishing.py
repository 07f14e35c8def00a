"""Drafts become versions, whole and unchanged, or say in words why they cannot."""

import pytest

from copilot_admin.agent.components.registry import Registry
from copilot_admin.copilots.checklist import content_checks
from copilot_admin.copilots.publishing import checklist, has_changes
from copilot_admin.models import Copilot, CopilotVersion
from tests.agent.components.sample_components import Echo
from tests.factories import make_copilot, make_provider, make_published

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_another_provider_is_a_change_and_a_new_name_of_it_is_none():
    copilot = make_published()
    copilot.provider.name = "Renamed"
    assert not has_changes(copilot)
    copilot.provider = make_provider()
    assert has_changes(copilot)


def test_a_document_of_another_release_is_a_problem_and_no_crash():
    copilot = make_copilot(citations="telepathy")
    assert [problem.field for problem in checklist(copilot).errors] == ["provider"]


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
    assert checklist(make_copilot(components=components)).errors == ()
    found = checklist(make_copilot(components=components, tools=["table"])).errors
    assert [one.field for one in found] == ["components"]
