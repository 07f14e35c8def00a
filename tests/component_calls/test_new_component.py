"""A component that a newcomer writes from docs/extending.md alone works everywhere."""

from collections.abc import Iterator
from pathlib import Path
import re
import sys

from django.conf import settings
from django.test import AsyncClient, Client
import pytest

from copilot_admin.agent import components
from copilot_admin.agent.components.registry import registry
from copilot_admin.config.roles import Role
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.importing import import_values
from copilot_admin.models import Access, Copilot, Event, EventType
from tests.api.test_query import post
from tests.factories import make_key, make_published, make_user
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

RECIPE = Path(settings.BASE_DIR, "docs", "extending.md")
MODULE = f"{components.__name__}.word_count"
QUESTION = {"messages": [{"role": "human", "content": "Word count: one two three"}]}


@pytest.fixture(autouse=True)
def new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example of the recipe, saved where the recipe says; no other file is touched."""
    text = RECIPE.read_text()
    (name,) = re.findall(r"save it as `(\w+\.py)`\s+in `copilot_admin/agent/components/`", text)
    (code,) = re.findall(r"```python\n(\"\"\"Counts.*?)```", text, re.DOTALL)
    (tmp_path / name).write_text(code)
    monkeypatch.setattr(components, "__path__", [*components.__path__, str(tmp_path)])
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
            "description": "Counts the words of a text.",
            "parameters": {
                "type": "object",
                "properties": {
                    "text": {"description": "The text to count in.", "type": "string"},
                    "at_least": {
                        "description": "Letters that a word must have to count.",
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
    assert "Word count" in catalogue and "Counts the words of a text." in catalogue
    page = builder.get("/admin/components/word_count/v1/").content.decode()
    assert "Letters that a word must have to count." in page
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
    body = {"stream": False, "parameters": {"text": "one two three", "at_least": 4}}
    status, answer = post(body, path=path, Authorization=f"Bearer {key}")
    assert (status, answer["status"]) == (200, "done")
    assert [one["text"] for one in answer["content"]] == [{"info": "1 words"}]
    wrong = {"parameters": {"text": " "}}
    status, answer = post(wrong, path=path, Authorization=f"Bearer {key}")
    assert (status, answer["message"]) == (400, "There is no text to count in. Give some.")
