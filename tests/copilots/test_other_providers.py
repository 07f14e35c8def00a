"""A control of the chat lets a model of another provider answer."""

from typing import Any

from django.test import AsyncClient, Client
import pytest

from copilot_admin.copilots.publishing import has_changes
from copilot_admin.errors import ProviderRefused
from copilot_admin.import_export.exporting import export_file
from copilot_admin.models import Copilot, Provider, Run
from tests.admin.pages import submit
from tests.agent.scripted import ScriptedProvider, broken, text
from tests.factories import make_provider, make_published, make_user
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

CONTROL = {
    "key": "web-search",
    "label": "Web search",
    "type": "toggle",
    "default": False,
    "model": "online-1",
    "provider": "Web",
}


@pytest.fixture
def web() -> Provider:
    return make_provider(name="Web")


@pytest.fixture
def speaking(monkeypatch: pytest.MonkeyPatch) -> dict[str, ScriptedProvider]:
    """The copilot's own provider and the other, each with one answer."""
    both = {name: ScriptedProvider([text(f"By {name}.")]) for name in ("Desk", "Web")}
    # A renamed provider is the same one.
    monkeypatch.setattr(
        "copilot_admin.copilots.live.make_provider",
        lambda spec: both.get(spec.name, both["Web"]),
    )
    return both


def published(**changes: Any) -> Copilot:
    fields: dict[str, Any] = {"slug": "news", "custom_features": [CONTROL], **changes}
    return make_published(provider=make_provider(name="Desk"), **fields)


def asked(*, on: bool) -> str:
    options = {"workspace_options": ["web-search"] if on else []}
    body = {"messages": [{"role": "human", "content": "What moved?"}], **options}
    return "".join(
        data["delta"] for _, data in read(AsyncClient(), "/v1/copilots/news/query", body)
    )


def test_while_it_is_on_the_other_provider_answers_with_its_model(web, speaking):
    published()
    assert (asked(on=False), asked(on=True)) == ("By Desk.", "By Web.")
    assert speaking["Desk"].calls[0].model == "demo"
    assert speaking["Web"].calls[0].model == "online-1"
    runs = Run.objects.order_by("started_at").values_list("provider", "model")
    assert list(runs) == [("Desk", "demo"), ("Web", "online-1")]


@pytest.mark.database
def test_a_renamed_provider_still_answers_and_the_draft_follows(web, speaking, client: Client):
    copilot = published()
    client.force_login(make_user(is_superuser=True))
    url = f"/admin/copilot_admin/provider/{web.pk}/change/"
    submit(client, url, {"name": "Search engine"}, form_id="provider_form")
    copilot.refresh_from_db()
    assert copilot.custom_features == [{**CONTROL, "provider": "Search engine"}]
    assert not has_changes(copilot)
    assert asked(on=True) == "By Web."
    exported = export_file(live=True)
    assert [one["name"] for one in exported["providers"]] == ["Desk", "Search engine"]
    assert exported["copilots"][0]["custom_features"][0]["provider"] == "Search engine"


@pytest.mark.database
def test_a_provider_that_a_version_needs_cannot_be_deleted(web, client: Client):
    published()
    client.force_login(make_user(is_superuser=True))
    page = client.get(f"/admin/copilot_admin/provider/{web.pk}/delete/")
    assert len(page.context["protected"]) == 1
    client.post(f"/admin/copilot_admin/provider/{web.pk}/delete/", {"post": "yes"})
    assert Provider.objects.filter(pk=web.pk).exists()


def test_a_fallback_of_another_provider_answers_and_stays_linked_when_it_is_renamed(
    speaking: dict[str, ScriptedProvider], web: Provider
) -> None:
    fallbacks = [{"model": "small", "provider": "Web"}]
    copilot = published(custom_features=[], fallbacks=fallbacks)
    speaking["Desk"] = ScriptedProvider([broken(ProviderRefused("No."))])
    web.name = "Net"
    web.save()
    assert asked(on=False) == "By Web."
    assert [call.model for call in speaking["Web"].calls] == ["small"]
    run = Run.objects.get()
    assert (run.provider, run.model) == ("Net", "small")
    [note] = run.notes
    assert "'Desk' failed (No.), so 'small' of 'Net' was asked" in note
    assert export_file([copilot.slug], live=True)["copilots"][0]["fallbacks"] == [
        {"model": "small", "provider": "Net"}
    ]
