"""A component that a newcomer writes from docs/extending.md alone works everywhere."""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
import sys

from django.test import AsyncClient, Client
import pytest

from copilot_admin.agent import components
from copilot_admin.agent.components import registry as registry_module
from copilot_admin.agent.components.registry import registry
from copilot_admin.config.roles import Role
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.importing import import_values
from copilot_admin.models import Access, Copilot, Event, EventType
from tests.api.test_query import post
from tests.docs.recipes import write
from tests.factories import make_key, make_published, make_user
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

RECIPE = "copilot_admin/agent/components/word_count.py"
MODULE = f"{components.__name__}.word_count"
QUESTION = {"messages": [{"role": "human", "content": "Word count: one two three"}]}


@pytest.fixture(autouse=True)
def new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example of the recipe, next to the files of the product."""
    _, folder = write(RECIPE, tmp_path)
    monkeypatch.setattr(components, "__path__", [*components.__path__, str(folder)])
    added = (*registry_module.COMPONENTS, import_module(MODULE).WordCount)
    monkeypatch.setattr(registry_module, "COMPONENTS", added)
    registry.cache_clear()
    yield
    sys.modules.pop(MODULE, None)
    registry.cache_clear()


def test_it_keeps_the_contract_and_has_a_manifest_of_its_own_words() -> None:
    assert registry().faults == []
    found = registry().find("word_count")
    assert found is not None
    assert found.manifests == (
        {
            "name": "word_count",
            "description": "Count the words of a text.",
            "parameters": {
                "type": "object",
                "properties": {
                    "text": {"description": "The text.", "type": "string"},
                    "min_length": {
                        "description": "Shortest word that counts.",
                        "type": "integer",
                    },
                },
                "required": ["text"],
            },
        },
    )


def test_the_admin_shows_it_and_has_a_switch_for_it() -> None:
    builder = Client()
    builder.force_login(make_user(Role.BUILDERS))
    catalogue = builder.get("/admin/components/").content.decode()
    assert "Word count" in catalogue and "Count the words of a text." in catalogue
    page = builder.get("/admin/components/word_count/v1/").content.decode()
    assert "Shortest word that counts." in page
    form = builder.get("/admin/copilot_admin/copilot/add/").content.decode()
    assert 'value="word_count@v1"' in form


def test_a_copilot_calls_it_and_the_transcript_has_it() -> None:
    make_published(slug="counter", components=[{"name": "word_count", "version": "v1"}])
    events = read(AsyncClient(), "/v1/copilots/counter/query", QUESTION)
    said = "".join(data["delta"] for name, data in events if name == "copilotMessageChunk")
    assert "A tool said: 3 words" in said
    assert [data["message"] for name, data in events if name == "copilotStatusUpdate"] == [
        "Running Word count",
        "Word count gave a result",
    ]
    (called,) = Event.objects.filter(type=EventType.COMPONENT)
    assert dict(called.payload or {}, ms=0) == {
        "name": "word_count",
        "version": "v1",
        "arguments": {"text": "one two three"},
        "result": "3 words",
        "outputs": 1,
        "ms": 0,
    }


def test_a_copilot_file_names_it_and_comes_back_as_it_went() -> None:
    make_published(slug="counter", components=[{"name": "word_count", "version": "v1"}])
    exported = export_file()
    assert exported["copilots"][0]["components"] == ["word_count@v1"]
    Copilot.objects.all().delete()
    import_values(exported, default_access=Access.OPEN)
    assert Copilot.objects.get().components == [{"name": "word_count", "version": "v1"}]


def test_programs_call_it_over_http() -> None:
    _, key = make_key()
    path = "/v2/components/word_count/version/v1"
    body = {"stream": False, "parameters": {"text": "one two three", "min_length": 4}}
    status, answer = post(body, path=path, Authorization=f"Bearer {key}")
    assert (status, answer["status"]) == (200, "done")
    assert [one["text"] for one in answer["content"]] == [{"info": "1 words"}]
    wrong = {"parameters": {"text": " "}}
    status, answer = post(wrong, path=path, Authorization=f"Bearer {key}")
    assert (status, answer["message"]) == (400, "The text is empty. Pass a text.")
