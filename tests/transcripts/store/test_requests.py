"""The large fields of a request are stored once, however much the rest of it changes."""

import pytest

from copilot_admin.models import Blob, Run
from copilot_admin.transcripts.queries import read_request
from tests.transcripts.store.journaling import Client, ai

pytestmark = [pytest.mark.database, pytest.mark.django_db]
WIDGETS = {"primary": [{"id": f"w{number}", "name": "x" * 100} for number in range(100)]}
CONTEXT = [{"uuid": "u", "content": "y" * 5000}]
TOOLS = [{"name": "t", "input_schema": {"$ref": "z" * 3000}}]


def test_what_requests_repeat_is_stored_once():
    client = Client()
    fixed = {"widgets": WIDGETS, "context": CONTEXT, "tools": TOOLS}
    for number in range(3):
        client.ask(f"q{number}", env={**fixed, "workspace_state": {"page": number}}).answer("Yes")
    assert Blob.objects.count() == 3 + 3
    for name in fixed:
        assert Run.objects.values_list(name).distinct().count() == 1


@pytest.mark.parametrize(
    ("env", "separate"),
    [
        ({}, set()),
        ({"timezone": "UTC", "widgets": {"primary": []}, "context": []}, set()),
        ({"timezone": "UTC", "widgets": WIDGETS, "context": []}, {"widgets"}),
        ({"context": CONTEXT, "tools": TOOLS}, {"context", "tools"}),
    ],
)
def test_a_request_is_read_as_it_was(env, separate):
    asked = Client().ask("Hi", ai("Hello"), "And?", env=env)
    assert read_request(asked.run_id) == env
    stored = {name for name in ("widgets", "context", "tools") if getattr(asked.run, name)}
    assert stored == separate
