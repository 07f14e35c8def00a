"""Data in `messages` over HTTP: what the model sees of it, in each generation."""

from typing import Any

from django.test import AsyncClient
import pytest

from copilot_admin.agent.values.model_call import ModelRole
from copilot_admin.models import Run
from tests.agent.scripted import text
from tests.api.test_query import script
from tests.factories import make_published
from tests.streams import read

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = {"role": "human", "content": "How old am I?"}
NAME = {
    "type": "data",
    "kind": "user",
    "data": {"name": "John Doe"},
    "schema": {"type": "object", "properties": {"age": {"type": "number"}}},
}
ABOUT = {"type": "data", "kind": "user", "description": "Represents the current user."}
AGE = {"role": "user", "content": {"type": "data", "kind": "user", "data": {"age": 30}}}
BLOCK = """\
## Data: ¶user
{
  "name": "John Doe",
  "age": 30
}
Represents the current user.
Schema for ¶user:
{
  "type": "object",
  "properties": {
    "age": { "type": "number" }
  }
}"""
GENERATIONS: dict[int, tuple[str, dict[str, Any]]] = {
    1: ("", {"widgets": []}),
    2: ("?generation=2", {}),
    3: ("", {"timezone": "UTC"}),
}


@pytest.mark.parametrize("generation", GENERATIONS)
def test_data_in_messages_is_merged_and_stands_before_the_question(monkeypatch, generation):
    make_published(slug="desk", system_prompt="You are a desk.")
    provider = script(monkeypatch, text("Thirty."))
    address, more = GENERATIONS[generation]
    body = {"messages": [NAME, ABOUT, ASKED, AGE], **more}
    read(AsyncClient(), f"/v1/copilots/desk/query{address}", body)
    system, block, question = provider.calls[0].messages
    assert "notes of data, not words of the user" in system.text
    assert (block.role, block.text) == (ModelRole.USER, BLOCK)
    assert (question.role, question.text) == (ModelRole.USER, "How old am I?")
    run = Run.objects.get()
    assert run.generation == generation
