"""Other examples of OpenBB: what the client brings, what it is shown, and events beside theirs."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from openbb_ai import reasoning_step
import pytest

from copilot_admin.models import Feedback, Turn
from tests.conformance.strangers import Stranger, content
from tests.wire import Line
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import ModelServer, calls, says
from tests.workspace.stream import events_of

pytestmark = pytest.mark.django_db(transaction=True)

TOOL = {
    "server_id": "test_server",
    "name": "Tool1_function one",
    "url": "http://test.com",
    "description": "Finds things.",
    "input_schema": {
        "type": "object",
        "properties": {"q": {"type": "string", "description": "What."}},
        "required": ["q"],
    },
    "auth_token": None,
}
ON, OFF = "✅ Enabled", "❌ Disabled"
HIT = {"execute_agent_tool": lambda _: [{"items": [{"content": "A hit."}], "extra_citations": []}]}


def test_reasoning_steps_are_what_the_package_of_openbb_would_send(chat_with):
    stranger = chat_with("reasoning-steps", says("A curve."))
    [events] = stranger.asks("What is a yield curve?")
    first, last = named(events, "copilotStatusUpdate")
    details = {"copilot": "Reasoning Steps", "stage": "start"}
    theirs = reasoning_step("Starting to answer the question...", details=details)
    kept = ("eventType", "message", "group", "details")
    assert first == theirs.data.model_dump(include=set(kept), mode="json")
    assert (last["eventType"], last["group"]) == ("INFO", "reasoning")
    (
        stranger.response()
        .starts("copilotStatusUpdate")
        .with_("Starting to answer the question...")
        .then("copilotMessage")
        .with_("A curve.")
        .then("copilotStatusUpdate")
        .with_("Answering complete!")
    )


@pytest.mark.parametrize(
    ("request_", "research", "web"),
    [
        ({}, OFF, ON),
        ({"workspace_options": {"deep-research": True, "web-search": False}}, ON, OFF),
        ({"workspace_options": {"deep-research": True}}, ON, OFF),
        ({"workspace_options": ["deep-research", "web-search"]}, ON, ON),
    ],
    ids=["nothing", "both", "off is absent", "list"],
)
def test_custom_features_reach_the_prompt_with_their_defaults(
    request_, research, web, chat_with, model
):
    stranger = chat_with("custom-options", says("Hello!"))
    stranger.asks("Hello, what features are enabled?", **request_)
    assert f"Deep Research: {research}\n" in model.system()
    assert f"Web Search: {web}\n" in model.system()
    features = stranger.agent["features"]
    assert features["deep-research"]["default"] is False
    assert features["web-search"]["default"] is True
    assert features["tone"]["type"] == "select"
    assert features["house-view"]["type"] == "text"


def asked(url: str, **request: Any) -> None:
    with Line(url, body={"messages": [{"role": "human", "content": "Well?"}], **request}) as line:
        assert text_of(events_of(line.read_all())) == "Well."


def test_mcp_tools_are_called_by_their_full_name_and_their_result_comes_back(chat_with, model):
    stranger = chat_with("mcp-tools", calls("Tool1_function_one", q="rates"), says("Found."))
    first, second = stranger.asks("Find it.", functions=HIT, tools=[TOOL])
    assert first[0][1]["function"] == "execute_agent_tool"
    assert first[0][1]["input_arguments"] == {
        "server_id": "test_server",
        "tool_name": "Tool1_function one",
        "parameters": {"q": "rates"},
    }
    assert first[0][1]["extra_state"]["copilot_function_call_arguments"]
    assert second == [("copilotMessageChunk", {"delta": "Found."})]
    for number in (0, 1):
        offered = model.tools(number)["Tool1_function_one"]
        assert offered["description"] == "Finds things."
        assert offered["parameters"] == TOOL["input_schema"]
    assert "A hit." in model.told()
    assert "MCP tools" in stranger.agent["description"]
    assert stranger.agent["features"]["mcp-tools"] is True
    assert stranger.agent["features"]["widget-dashboard-search"] is False


LISTED = {"slug": "financial-analysis", "description": "Analyze company financials and earnings"}
GUIDE = "# Financial Analysis\n\nFocus on margins and revenue growth."


def test_a_skill_of_the_catalog_is_asked_for_and_then_followed(chat_with, model):
    wanted = {"slug": "financial-analysis", "reason": "The user asked for it by name."}
    stranger = chat_with("skills", calls("get_skill_content", **wanted), says("Margins."))
    loaded = [{"status": "success", "data": {"skill": {**LISTED, "contentMarkdown": GUIDE}}}]
    first, second = stranger.asks(
        "Use the financial-analysis skill to review AAPL.",
        functions={"get_skill_content": lambda _: loaded},
        skills_catalog=[{**LISTED, "updatedAt": "2026-03-22T12:00:00Z"}],
    )
    call = first[0][1]
    assert (call["function"], call["input_arguments"]) == ("get_skill_content", wanted)
    assert call["extra_state"]["copilot_function_call_arguments"] == wanted
    assert second == [("copilotMessageChunk", {"delta": "Margins."})]
    assert "financial-analysis" in model.tools(0)["get_skill_content"]["description"]
    assert "Focus on margins and revenue growth." in model.told(1)
    assert "get_skill_content" not in model.tools(1), "one skill a turn"
    assert "loads one skill" in stranger.agent["description"]
    assert stranger.agent["features"]["widget-dashboard-select"] is False


@pytest.mark.parametrize(
    ("vote", "tags", "value"),
    [
        ("thumbs_up", [], 1),
        ("thumbs_down", ["Not factually correct / Hallucinations / Inaccurate"], -1),
    ],
)
def test_feedback_is_taken_and_lands_on_its_turn(vote, tags, value, chat_with):
    stranger = chat_with("feedback", says("Rates."))
    stranger.asks("What moves bonds?")
    judgement = {
        "vote": vote,
        "tags": tags,
        "user_comment": "",
        "ai_response": "Rates.",
        "user_prompt": "What moves bonds?",
        "trace_id": "",
    }
    assert posted(stranger.agent["endpoints"]["feedback"], judgement) == {"status": "ok"}
    kept = Feedback.objects.get()
    assert (kept.value, kept.tags, kept.turn) == (value, tags, Turn.objects.get())
    assert stranger.agent["features"]["feedback"] is True


def posted(url: str, body: Any) -> Any:
    """The answer to a body, as Workspace posts feedback."""
    with Line(url, body=body, headers={"X-Trace-Id": "chat-1"}) as line:
        answer = json.loads(line.read_all())
    assert line.status == 200
    return answer


def tool(name: str, server: str) -> dict[str, Any]:
    return {**TOOL, "name": name, "server_id": server}


def answering(arguments: Any) -> Any:
    """What a server answers, which names it."""
    return [{"items": [{"content": f"from {arguments['server_id']}"}], "extra_citations": []}]


def replayed(model: ModelServer) -> list[tuple[str, str]]:
    """The calls of the history with the name that the model is told, and their results."""
    messages = model.requests[-1]["messages"]
    names = [made["function"]["name"] for one in messages for made in one.get("tool_calls") or []]
    results = [one["content"] for one in messages if one["role"] == "tool"]
    return list(zip(names, results, strict=True))


def result(name: str, server: str) -> str:
    return f'<data source="{name}">\nfrom {server}\n</data>'


@pytest.mark.parametrize("order", [("search", "search_2"), ("search_2", "search")])
def test_tools_of_one_name_on_two_servers_are_told_apart(order, chat_with, model):
    servers = {"search": "srv-1", "search_2": "srv-2"}
    stranger = chat_with("mcp-tools", *[calls(name, q="x") for name in order], says("Both."))
    *legs, _ = stranger.asks(
        "Search both.",
        functions={"execute_agent_tool": answering},
        tools=[tool("search", "srv-1"), tool("search", "srv-2")],
    )
    made = [named(leg, "copilotFunctionCall")[0]["input_arguments"] for leg in legs]
    assert [(one["server_id"], one["tool_name"]) for one in made] == [
        (servers[name], "search") for name in order
    ]
    assert replayed(model) == [(name, result(name, servers[name])) for name in order]


EXAMPLES = Path(__file__).parent.parent / "golden" / "examples"
SLUGS = ("dashboard-explorer", "portfolio-commentary")
AN_ID = "(an id of its own)"
SIGNED = "(signed)"  # stands for what the client carries, which differs from run to run


def golden(slug: str) -> Any:
    """A request, what the example of OpenBB sends in each leg by its source, and what ours sends.

    Our events are the same and more: each of the example's has one of ours that says as much, in
    its order.
    """
    return json.loads((EXAMPLES / f"{slug}.json").read_text())


def played(slug: str, service_url: str, model: Any) -> tuple[Any, list[list[Event]]]:
    """Plays a golden file's question; its scripted model says what the file says."""
    example = golden(slug)
    stranger = Stranger(slug, says(*example["says"]), service=service_url, model=model)
    [question] = example["request"]["messages"]
    request = {key: one for key, one in example["request"].items() if key != "messages"}
    answers = {"get_widget_data": content(*example["data"])}
    return example, stranger.asks(question["content"], functions=answers, **request)


def settled(event: Event) -> list[Any]:
    """An event as a golden file has it: all of it but what differs from run to run."""
    name, data = event
    if name == "copilotFunctionCall":
        state = {**data["extra_state"], "copilot_memory": SIGNED}
        data = {**data, "extra_state": state}
    if name == "copilotCitationCollection":
        assert len({UUID(one["id"]) for one in data["citations"]}) == len(data["citations"])
        data = {**data, "citations": [{**one, "id": AN_ID} for one in data["citations"]]}
    return [name, data]


@pytest.mark.parametrize("slug", SLUGS)
def test_our_legs_are_those_of_the_golden_file(slug, service_url, model):
    example, legs = played(slug, service_url, model)
    assert [[settled(event) for event in _joined(leg)] for leg in legs] == example["ours"]


@pytest.mark.parametrize("slug", SLUGS)
def test_each_event_of_the_example_has_one_of_ours_that_says_as_much(slug):
    example = golden(slug)
    assert len(example["source"]) == len(example["ours"])
    for theirs, ours in zip(example["source"], example["ours"], strict=True):
        rest = iter(_joined(ours))
        for event in _joined(theirs):
            assert any(_says_as_much(one, event, request=example["request"]) for one in rest), event


def _joined(leg: list[Any]) -> list[Any]:
    """The events with the words between two others in one piece."""
    joined: list[Any] = []
    for name, data in leg:
        if name == "copilotMessageChunk" and joined and joined[-1][0] == name:
            joined[-1] = [name, {"delta": joined[-1][1]["delta"] + data["delta"]}]
        else:
            joined.append([name, data])
    return joined


def _says_as_much(ours: Any, theirs: Any, *, request: Any) -> bool:
    """Whether our event has what theirs has; words are the model's, and the builder's in a step."""
    if ours[0] != theirs[0]:
        return False
    match ours[0]:
        case "copilotFunctionCall":
            asked_for = ("function", "input_arguments")
            return all(ours[1][key] == theirs[1][key] for key in asked_for)
        case "copilotStatusUpdate":
            groups = request["widgets"].values()
            names = [widget["name"] for group in groups for widget in group]
            told = [name for name in names if name in theirs[1]["message"]]
            alike = all(ours[1][key] == theirs[1][key] for key in ("eventType", "group"))
            return alike and all(name in ours[1]["message"] for name in told)
        case _:
            return bool(ours[1]["delta"])
