"""The addresses of the service, however they are written and with whatever method they are asked."""

import json
from typing import Any

import pytest

from tests.conformance.strangers import import_template
from tests.wire import Line
from tests.workspace.model_server import ModelServer, says
from tests.workspace.stream import events_of

pytestmark = pytest.mark.django_db(transaction=True)

ORIGIN = {"Origin": "https://pro.openbb.co"}
QUESTION = {"role": "human", "content": "Well?"}
BODIES: dict[int, dict[str, Any]] = {
    1: {"messages": [QUESTION], "widgets": []},
    2: {"messages": [QUESTION], "widgets": {"primary": [{"widget_id": "w", "origin": "o"}]}},
    3: {"messages": [QUESTION], "timezone": "UTC"},
}
STEPS = {1: 0, 2: 2, 3: 2}  # that a client of a generation is shown


@pytest.mark.parametrize("name", ["agents.json", "copilots.json"])
@pytest.mark.parametrize("path", ["//{}", "/{}/", "//{}//"])
def test_discovery_is_found_with_a_slash_too_many(path, name, service_url, model: ModelServer):
    import_template("prompt-optimizer", model)
    url = f"{service_url}{path.format(name)}"
    with Line(url, method="GET", headers=ORIGIN) as line:
        document = json.loads(line.read_all())
    assert line.status == 200
    assert line.headers["access-control-allow-origin"] == ORIGIN["Origin"]
    query = document["prompt-optimizer"]["endpoints"]["query"]
    assert query.startswith(f"{service_url}/v1/copilots/prompt-optimizer/query")


@pytest.mark.parametrize("generation", BODIES)
def test_a_query_with_a_slash_at_its_end_is_answered_in_its_generation(
    generation, service_url, model: ModelServer
):
    model.url += "/"  # the address of a model gateway is often written so
    import_template("reasoning-steps", model)
    model.plays(says("Well."))
    url = f"{service_url}//v1/copilots/reasoning-steps/query/"
    with Line(url, body=BODIES[generation], headers=ORIGIN) as line:
        events = events_of(line.read_all())
    assert line.status == 200
    assert line.headers["access-control-allow-origin"] == ORIGIN["Origin"]
    names = [name for name, _ in events]
    assert names.count("copilotMessageChunk") == 1
    assert names.count("copilotStatusUpdate") == STEPS[generation]
