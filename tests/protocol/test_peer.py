"""Today's peer package agrees: it reads what we write, and we read what it writes."""

import json
from typing import Any, get_args

from openbb_ai.models import SSE, AgentFeatureOption, QueryRequest, WorkspaceAgent
from openbb_ai.testing import CopilotResponse
import pytest

from protocol.features import agents_json
from protocol.models import (
    AiMessage,
    CallMessage,
    CommandResult,
    FileReference,
    Generation,
    HumanMessage,
    ResultMessage,
    SourceData,
    SourceError,
)
from protocol.parsing import parse_query
from protocol.serializers import serialize
from protocol.sse import encode
from tests.protocol.examples import EXAMPLES
from tests.protocol.test_published import FULL, NEWS_UUID

PEER_EVENTS = {model.model_fields["event"].default: model for model in get_args(SSE)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_peer_would_write_the_same_data(name: str):
    for event, data in serialize(EXAMPLES[name], Generation.THREE):
        peer = PEER_EVENTS[event].model_validate({"event": event, "data": data})
        written = json.loads(peer.model_dump()["data"])
        assert filled(data, written) == written


def filled(ours: Any, theirs: Any) -> Any:
    """Ours with the defaults that the peer writes out and we leave to it."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        defaults = {"hidden": False, "metadata": {}, "citable": True}
        added = {key: value for key, value in defaults.items() if key in theirs}
        return {**added, **{key: filled(value, theirs.get(key)) for key, value in ours.items()}}
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        return [filled(*pair) for pair in zip(ours, theirs, strict=True)]
    return ours


def test_peers_helper_reads_an_answer():
    names = ("status-warning", "chunk", "table", "citations", "suggestions")
    said = [one for name in names for one in serialize(EXAMPLES[name], Generation.THREE)]
    stream = b"".join(encode(*event) for event in said).decode()
    response = CopilotResponse(stream.replace('"close":null,"split":true', '"close":1'))
    types = [name.replace("MessageChunk", "Message") for name, _ in said]
    assert [event.event_type for event in response.events] == types
    assert response.prompt_suggestions[0].content == said[-1][1]


def test_peers_agent_model_takes_our_agents_json():
    document = agents_json([FULL])
    entry = document["news-reader"]
    agent = WorkspaceAgent.model_validate({"id": "news-reader", **entry})  # type: ignore[dict-item]  # an object
    assert agent.features["streaming"] is True
    tone = agent.features["tone"]
    assert isinstance(tone, AgentFeatureOption)
    assert [option.value for option in tone.options or ()] == ["short", "long"]


SOURCE = {"widget_uuid": NEWS_UUID, "origin": "o", "id": "news", "input_args": {"p": "AAPL"}}
CALL = {"function": "get_widget_data", "input_arguments": {"data_sources": [SOURCE]}}
PDF = {"data_type": "pdf", "filename": "a.pdf"}
NEWS = {"content": "News", "data_format": {"data_type": "object", "parse_as": "text"}}
FILE = {"url": "https://x.example/a.pdf?sig=s", "data_format": PDF}
PARAM = {"type": "ticker", "description": "d"}
WIDGET = {"origin": "o", "widget_id": "news", "name": "News", "description": "d"}
RESULTS = [
    *({"items": [item]} for item in (NEWS, FILE)),
    {"error_type": "not_found", "content": "Gone"},
    {"status": "success", "message": "Added"},
]
PARAMS = [{"name": "p", **PARAM, "current_value": "AAPL"}, {"name": "q", **PARAM}]
REQUEST = {
    "messages": [
        {"role": "human", "content": "What moved?"},
        {"role": "ai", "content": "Apple.", "agent_id": "news-reader"},
        {"role": "human", "content": "Why?"},
        {"role": "ai", "content": json.dumps(CALL)},
        {"role": "tool", **CALL, "data": RESULTS, "extra_state": {"s": 1}},
    ],
    "context": [
        {"uuid": NEWS_UUID, "name": "chart", "description": "d", "data": {"items": [NEWS]}}
    ],
    "widgets": {"primary": [{**WIDGET, "params": PARAMS}]},
    "urls": ["https://x.example"],
    "workspace_state": {"action_history": ["added a widget"]},
    "workspace_options": {"deep-research": True},
    "tools": [{"name": "search", "url": "https://m.example", "auth_token": "canary"}],
}


@pytest.mark.parametrize("exclude_none", [True, False])
def test_we_read_what_the_peer_sends(exclude_none: bool):
    request = QueryRequest.model_validate(REQUEST)
    query = parse_query(request.model_dump_json(exclude_none=exclude_none).encode())
    assert (query.generation, query.notes, query.timezone) == (Generation.THREE, (), "UTC")
    *texts, call, result = query.messages
    apple = AiMessage("Apple.", agent_id="news-reader")
    assert texts == [HumanMessage("What moved?"), apple, HumanMessage("Why?")]
    assert isinstance(call, CallMessage)
    assert isinstance(result, ResultMessage)
    assert call.input_arguments == result.input_arguments
    news, *others = result.data
    assert [(one.content, one.data_format["parse_as"]) for one in news.items] == [("News", "text")]  # type: ignore[union-attr]
    assert others == [
        SourceData((FileReference(url="https://x.example/a.pdf?sig=s", data_format=PDF),)),
        SourceError("not_found", "Gone"),
        CommandResult("success", "Added"),
    ]
    assert query.workspace_state["action_history"] == ["added a widget"]
    assert query.workspace_options == {"deep-research": True}
    assert query.context[0].name == "chart"
    assert "canary" not in repr(query)
    [widget] = query.widgets.primary
    given = {} if exclude_none else {"q": None}  # the peer writes missing values as null
    assert widget.input_args() == {"p": "AAPL", **given}
