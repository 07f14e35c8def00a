"""What a client brings back, member by member: nothing of it is dropped, in any generation."""

import json
from typing import Any

import pytest

from copilot_admin.models import Node
from tests.conformance.strangers import Stranger, import_template
from tests.conformance.test_widgets import on_dashboard
from tests.wire import Line
from tests.workspace.client import Event, text_of
from tests.workspace.model_server import calls, says
from tests.workspace.stream import events_of

pytestmark = pytest.mark.django_db(transaction=True)

NEW = "5f6c2a34-7d0e-4d0f-9f0a-0b2f6f7c1d11"
ADDED = {"status": "success", "message": "Added.", "widget_uuid": NEW}


def posted(service: str, slug: str, *messages: Any, **request: Any) -> list[Event]:
    """The answer to a body that some older client wrote."""
    body = {"messages": messages, **request}
    with Line(f"{service}/v1/copilots/{slug}/query", body=body) as line:
        stream = line.read_all()
    assert line.status == 200, stream
    return events_of(stream)


def test_the_model_learns_the_uuid_of_the_widget_that_it_added(service_url, model):
    note = {"widget_type": "note", "name": "Three", "data": "1, 2, 3"}
    stranger = Stranger(
        "dashboard-explorer", calls("add_generative_widget", **note), says("It is there."),
        service=service_url, model=model,
    )  # fmt: skip
    stranger.asks(
        "Note it.",
        functions={"add_generative_widget": lambda _: [ADDED]},
        **on_dashboard(workspace_options={"generative-ui": True}),
    )
    assert model.requests[1]["messages"][-1]["content"] == (
        f'<data source="add_generative_widget">\n(success) Added. {{"widget_uuid": "{NEW}"}}\n</data>'
    )
    assert json.loads(Node.objects.get(role="tool").text)["data"] == [{**ADDED, "data": {}}]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (
            {"input_arguments": {"widget_uuid": NEW}},
            {"copilotMessageChunk"},
        ),
        (
            {"input_arguments": {}, "copilot_function_call_arguments": {}},
            {"copilotStatusUpdate", "copilotMessageChunk"},
        ),
    ],
    ids=["1", "2"],
)
def test_an_older_body_with_such_a_result_keeps_it_and_its_dialect(call, names, service_url, model):
    import_template("reasoning-steps", model)
    model.plays(says("There."))
    made = {"function": "add_widget_to_dashboard", **call}
    events = posted(
        service_url,
        "reasoning-steps",
        {"role": "human", "content": "Add it."},
        {"role": "ai", "content": json.dumps(made)},
        {"role": "tool", **made, "data": [ADDED]},
    )
    assert {name for name, _ in events} == names
    assert text_of(events) == "There."
    assert NEW in model.told()
