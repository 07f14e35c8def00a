"""What a client brings back, member by member: nothing of it is dropped, in any generation."""

import json
from typing import Any

import pytest

from copilot_admin.models import Node
from protocol.models import Generation
from tests.conformance.dialects import QUESTION, asks, offered
from tests.conformance.strangers import NEWS, PRICE, Stranger, import_template, widgets
from tests.conformance.test_widgets import on_dashboard
from tests.import_export.test_templates import files_served
from tests.wire import Line
from tests.workspace.client import Event, named, text_of
from tests.workspace.model_server import Reply, calls, says
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


CITATION = {
    "id": "6a097e6b-1d8c-4647-9863-57b23b1e8ad4",
    "source_info": {"type": "web", "name": "Minutes", "metadata": {"url": "https://bank.example"}},
    "details": [{"Page": 2}],
}


def test_what_the_data_of_a_widget_cites_is_cited_too(service_url, model):
    stranger = Stranger("widget-citations", says("It rose."), service=service_url, model=model)
    cited = [{"items": [{"content": "[1]"}], "extra_citations": [CITATION, {"id": "broken"}]}]
    *_, events = stranger.asks(
        "What moved?", functions={"get_widget_data": lambda _: cited}, **widgets(NEWS)
    )
    [own, theirs] = named(events, "copilotCitationCollection")[0]["citations"]
    assert own["source_info"]["widget_id"] == "company_news"
    assert theirs == {
        **CITATION,
        "source_info": {**CITATION["source_info"], "citable": True},  # type: ignore[dict-item]
    }


@pytest.mark.parametrize("nothing", ["[]", "", "{}"])
def test_a_widget_that_had_nothing_is_not_cited(nothing, service_url, model):
    stranger = Stranger("widget-citations", says("Nothing."), service=service_url, model=model)
    given = [{"items": [{"content": text}]} for text in (nothing, "[1]")]
    *_, events = stranger.asks(
        "What moved?", functions={"get_widget_data": lambda _: given}, **widgets(NEWS, PRICE)
    )
    [citation] = named(events, "copilotCitationCollection")[0]["citations"]
    assert citation["source_info"]["widget_id"] == "stock_price"


@pytest.mark.parametrize("nothing", [[], "", {}])
@pytest.mark.parametrize("generation", [1, 2])
def test_nor_is_it_named_to_older_clients(generation, nothing, service_url, model):
    import_template("widget-citations", model)
    model.plays(says("Nothing."))
    asked: dict[str, Any] = {"input_arguments": {"widget_uuid": NEW}}
    if generation == 2:
        asked = {"copilot_function_call_arguments": {}}
    events = posted(
        service_url,
        "widget-citations",
        {"role": "human", "content": "What moved?"},
        {
            "role": "tool",
            "function": "get_widget_data",
            **asked,
            "data": {"content": nothing} if generation == 1 else [{"content": nothing}],
        },
    )
    assert events == [("copilotMessageChunk", {"delta": "Nothing."})]


def test_what_an_mcp_tool_cites_is_cited_under_the_id_that_the_client_knows(service_url, model):
    stranger = Stranger(
        "widget-citations", calls("find", q="rates"), says("Found."),
        service=service_url, model=model,
    )  # fmt: skip
    hit = [{"items": [{"content": "A hit."}], "extra_citations": [CITATION]}]
    tool = {"server_id": "s", "name": "find", "url": "http://test.com", "description": ""}
    *_, events = stranger.asks(
        "Find it.", functions={"execute_agent_tool": lambda _: hit}, tools=[tool]
    )
    [theirs] = named(events, "copilotCitationCollection")[0]["citations"]
    assert theirs["id"] == CITATION["id"]


def test_what_two_tools_cite_is_cited_once_with_the_id_that_one_of_them_gives(service_url, model):
    both = Reply(calls=(("find", {"q": "a"}), ("find", {"q": "b"})))
    stranger = Stranger("widget-citations", both, says("Found."), service=service_url, model=model)
    nameless = {key: one for key, one in CITATION.items() if key != "id"}
    given = iter(([nameless, nameless], [CITATION]))
    tool = {"server_id": "s", "name": "find", "url": "http://test.com", "description": ""}
    *_, events = stranger.asks(
        "Find it.",
        functions={
            "execute_agent_tool": lambda _: [
                {"items": [{"content": "A hit."}], "extra_citations": next(given)}
            ]
        },
        tools=[tool],
    )
    [theirs] = named(events, "copilotCitationCollection")[0]["citations"]
    assert theirs["id"] == CITATION["id"]


def test_the_first_generation_is_told_of_it_in_the_line_of_sources(service_url, model):
    import_template("widget-citations", model)
    model.plays(says("It rose."))
    asked = {"function": "get_widget_data", "input_arguments": {"widget_uuid": NEW}}
    given = {"content": "[1]", "extra_citations": [CITATION]}
    events = posted(
        service_url,
        "widget-citations",
        {"role": "human", "content": "What moved?"},
        {"role": "tool", **asked, "data": given},
    )
    assert {name for name, _ in events} == {"copilotMessageChunk"}
    assert text_of(events) == f"It rose.\n\nSources: {NEW}, Minutes\n\n"


def test_the_second_generation_is_told_of_it_as_of_its_own(service_url, model):
    import_template("widget-citations", model)
    model.plays(says("It rose."))
    source = {"origin": "openbb", "id": "news", "input_args": {}}
    asked = {"function": "get_widget_data", "input_arguments": {"data_sources": [source]}}
    given = {"content": "[1]", "extra_citations": [CITATION]}
    events = posted(
        service_url,
        "widget-citations",
        {"role": "human", "content": "What moved?"},
        {"role": "tool", **asked, "data": [given]},
    )
    [collection] = named(events, "copilotCitationCollection")
    assert [set(one) for one in collection["citations"]] == [{"source_info", "details"}] * 2
    assert [one["source_info"]["name"] for one in collection["citations"]] == ["news", "Minutes"]


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


def artifact(type: str, content: Any, **form: Any) -> dict[str, Any]:
    """An artifact of the chat as Workspace sends it along."""
    form = {"data_type": "object", "parse_as": type, **form}
    item = {"content": json.dumps(content), "data_format": form}
    return {"uuid": NEW, "name": f"My {type}", "description": "", "data": {"items": [item]}}


QUERY = {"origin": "Snowflake", "id": "sales", "widget_uuid": NEW}
CHART = {"chartType": "line", "xKey": "day", "yKey": ["price"]}
ROWS = [{"day": "Mon", "price": 1.5}]


def test_artifacts_of_every_type_are_known_to_the_model_as_what_they_are(service_url, model):
    stranger = Stranger("prompt-optimizer", says("Yes."), service=service_url, model=model)
    stranger.asks(
        "Explain them.",
        context=[
            artifact("text", "Rates rose.\nMuch."),
            artifact("chart", ROWS, chart_params=CHART),
            artifact("snowflake_query", "SELECT 1", query_data_source=QUERY),
            artifact("snowflake_python", "a = 1"),
        ],
    )
    assert model.requests[0]["messages"][-1]["content"] == (
        "Explain them.\n\n"
        '<data source="My text">\nRates rose.\nMuch.\n</data>\n\n'
        f'<data source="My chart">\n[a chart, drawn with {json.dumps(CHART)}]\n'
        f"{json.dumps(ROWS)}\n</data>\n\n"
        '<data source="My snowflake_query">\n'
        f"[a Snowflake query, asked of {json.dumps(QUERY)}]\nSELECT 1\n</data>\n\n"
        '<data source="My snowflake_python">\n[Python code for Snowflake]\na = 1\n</data>'
    )


def test_a_chart_that_the_second_generation_brings_back_is_told_as_one(service_url, model):
    import_template("widget-citations", model)
    model.plays(says("It rose."))
    source = {"origin": "openbb", "id": "news", "input_args": {}}
    form = {"type": "chart", "chart_params": CHART}
    events = posted(
        service_url,
        "widget-citations",
        {"role": "human", "content": "What moved?"},
        {
            "role": "tool",
            "function": "get_widget_data",
            "input_arguments": {"data_sources": [source]},
            "data": [{"content": ROWS, "data_format": form}],
        },
    )
    assert f"[a chart, drawn with {json.dumps(CHART)}]" in model.told()
    assert "id" not in named(events, "copilotCitationCollection")[0]["citations"][0]


@pytest.mark.parametrize("context", ["Rates rose.", [{"uuid": NEW, "data": {"content": ROWS}}]])
def test_context_of_the_first_generation_is_told_as_before(context, service_url, model):
    import_template("prompt-optimizer", model)
    model.plays(says("Yes."))
    question = {"role": "human", "content": "Explain."}
    events = posted(service_url, "prompt-optimizer", question, context=context, widgets=[])
    assert events == [("copilotMessageChunk", {"delta": "Yes."})]
    told = context if isinstance(context, str) else json.dumps(ROWS, separators=(",", ":"))
    assert f">\n{told}\n</data>" in model.told()


@pytest.mark.parametrize("generation", [Generation.ONE, Generation.TWO], ids=["1", "2"])
@pytest.mark.parametrize(
    ("form", "content", "note"),
    [
        ({"type": "text"}, "Rates rose.", ""),
        ({"type": "snowflake_query", "query_data_source": QUERY}, "SELECT 1",
         f"[a Snowflake query, asked of {json.dumps(QUERY)}]\n"),
        ({"type": "snowflake_python"}, "a = 1", "[Python code for Snowflake]\n"),
    ],
    ids=["text", "query", "python"],
)  # fmt: skip
def test_artifacts_of_older_clients_are_known_as_what_they_are(
    form, content, note, generation, service_url, model
):
    import_template("reasoning-steps", model)
    model.plays(says("Yes."))
    kept = {"uuid": NEW, "name": "Mine", "data": {"content": content, "data_format": form}}
    body = {"messages": [QUESTION], "context": [kept], **offered(generation)}
    events = asks(service_url, "reasoning-steps", body)
    assert f'<data source="Mine">\n{note}{content}\n</data>' in model.told()
    assert len(named(events, "copilotStatusUpdate")) == (0 if generation is Generation.ONE else 2)


def test_the_name_of_what_the_second_generation_brings_back_is_taken(service_url, model):
    import_template("tables", model)
    wish = [("table", {"name": name, "description": "", "rows": ROWS}) for name in ("A", 'The "B"')]
    model.plays(Reply(calls=tuple(wish)), says("Two."))
    kept = [{"uuid": NEW, "name": name, "data": {"content": ROWS}} for name in ("A", "The 'B'")]
    body = {"messages": [QUESTION], "context": kept, **offered(Generation.TWO)}
    events = asks(service_url, "tables", body)
    names = [one["name"] for one in named(events, "copilotMessageArtifact")]
    assert names == ["A 2", "The 'B' 2"]


OBJECT = {"data_type": "object", "parse_as": "table"}


def test_data_that_a_widget_only_links_to_is_fetched_and_told(service_url, model, settings):
    settings.FETCH_ALLOW = ["127.0.0.1"]
    stranger = Stranger("widget-citations", says("It rose."), service=service_url, model=model)
    with files_served({"/rows": json.dumps(ROWS).encode()}) as address:
        link = {"url": f"{address}/rows", "data_format": OBJECT}
        *_, events = stranger.asks(
            "What moved?",
            functions={"get_widget_data": lambda _: [{"items": [link]}]},
            **widgets(NEWS),
        )
    assert f">\n{json.dumps(ROWS)}\n</data>" in model.told()
    [[citation]] = [one["citations"] for one in named(events, "copilotCitationCollection")]
    assert citation["source_info"]["widget_id"] == "company_news"


@pytest.mark.parametrize("generation", [1, 2])
def test_older_clients_may_link_to_data_too(generation, service_url, model, settings):
    settings.FETCH_ALLOW = ["127.0.0.1"]
    import_template("widget-reader", model)
    model.plays(says("It rose."))
    asked: dict[str, Any] = {"function": "get_widget_data", "input_arguments": {}}
    with files_served({"/rows": json.dumps(ROWS).encode()}) as address:
        link: Any = {"url": f"{address}/rows"}
        if generation == 1:
            asked["input_arguments"] = {"widget_uuid": NEW}
        else:
            asked["copilot_function_call_arguments"] = {}
            link = [{**link, "data_format": {"type": "table"}}]
        events = posted(
            service_url,
            "widget-reader",
            {"role": "human", "content": "What moved?"},
            {"role": "tool", **asked, "data": link},
        )
    assert events == [("copilotMessageChunk", {"delta": "It rose."})]
    assert f">\n{json.dumps(ROWS)}\n</data>" in model.told()


FLAT_NEWS = {key: NEWS[key] for key in ("uuid", "name", "description", "metadata")}
MANY = [{"day": number, "price": 1.5} for number in range(100)]
CUT = (
    "Not all data fits: of 'Company News' the model is given 15 of 100 rows. Ask about less to have "
    "all of it."
)


def test_rows_that_did_not_fit_are_told_to_the_user_once(service_url, model):
    stranger = Stranger(
        "widget-reader", says("It rose."), says("It did."), service=service_url, model=model
    )
    import_template("widget-reader", model, max_data_tokens=100)
    given = [{"items": [{"content": json.dumps(MANY)}]}]
    _, events = stranger.asks(
        "What moved?", functions={"get_widget_data": lambda _: given}, **widgets(NEWS)
    )
    assert events == [
        (
            "copilotStatusUpdate",
            {"eventType": "WARNING", "message": CUT, "group": "reasoning"},
        ),
        ("copilotMessageChunk", {"delta": "It rose."}),
    ]
    assert "[85 of 100 rows left out: too much data]" in model.told()
    [later] = stranger.asks("Really?")
    assert later == [("copilotMessageChunk", {"delta": "It did."})]


@pytest.mark.parametrize("generation", [1, 2])
def test_older_clients_are_told_in_their_own_way(generation, service_url, model):
    import_template("widget-reader", model, max_data_tokens=100)
    model.plays(says("It rose."))
    source = {"origin": "openbb", "id": "company_news", "input_args": {"ticker": "AAPL"}}
    asked: dict[str, Any] = {"input_arguments": {"widget_uuid": NEWS["uuid"]}}
    if generation == 2:
        asked = {"input_arguments": {"data_sources": [source]}}
    events = posted(
        service_url,
        "widget-reader",
        {"role": "human", "content": "What moved?"},
        {
            "role": "tool",
            "function": "get_widget_data",
            **asked,
            "data": {"content": MANY} if generation == 1 else [{"content": MANY}],
        },
        widgets=[FLAT_NEWS] if generation == 1 else {"primary": [NEWS]},
    )
    names = [name for name, _ in events]
    if generation == 1:
        assert names == ["copilotMessageChunk"]
        assert text_of(events) == f"{CUT}\n\nIt rose."
    else:
        assert names == ["copilotStatusUpdate", "copilotMessageChunk"]
        assert events[0][1]["message"] == CUT


def test_rows_that_did_not_fit_into_a_data_message_are_told_too(service_url, model):
    stranger = Stranger("widget-reader", says("It rose."), service=service_url, model=model)
    import_template("widget-reader", model, max_data_tokens=100, data_messages={"results": True})
    given = [{"items": [{"content": json.dumps(MANY)}]}]
    _, events = stranger.asks(
        "What moved?", functions={"get_widget_data": lambda _: given}, **widgets(NEWS)
    )
    [warning] = named(events, "copilotStatusUpdate")
    assert warning["message"].startswith("Not all data fits: Data of the widget Company News asked")
    assert "of 100 rows. Ask about less" in warning["message"]
    model.plays(says("It did."), says("It fell."))
    [later] = stranger.asks("Really?")
    assert later == [("copilotMessageChunk", {"delta": "It did."})]
    *_, again = stranger.asks(
        "And now?", functions={"get_widget_data": lambda _: given}, **widgets(NEWS)
    )
    assert len(named(again, "copilotStatusUpdate")) == 1, "the data is of this question again"


BODIES: dict[int, dict[str, Any]] = {
    1: {"widgets": []},
    2: {"widgets": {"primary": [{"origin": "o", "widget_id": "w"}]}},
    3: {"timezone": "UTC"},
}


@pytest.mark.parametrize("generation", BODIES)
def test_messages_in_parts_are_understood_in_every_generation(generation, service_url, model):
    import_template("reasoning-steps", model)
    model.plays(says("Well."))
    events = posted(
        service_url,
        "reasoning-steps",
        *(
            {"role": role, "content": [{"type": "text", "text": f"{role} {part}"} for part in "ab"]}
            for role in ("human", "ai", "human")
        ),
        **BODIES[generation],
    )
    said = [(one["role"], one["content"]) for one in model.requests[0]["messages"][1:]]
    assert said == [
        ("user", "human a\nhuman b"),
        ("assistant", "ai a\nai b"),
        ("user", "human a\nhuman b"),
    ]
    steps = named(events, "copilotStatusUpdate")
    assert len(steps) == (0 if generation == 1 else 2)


@pytest.mark.parametrize("generation", [1, 3])
def test_calls_and_results_in_parts_are_what_they_are(generation, service_url, model):
    import_template("widget-reader", model)
    model.plays(says("It rose."))
    made = {"function": "get_widget_data", "input_arguments": {"widget_uuid": NEW}}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    events = posted(
        service_url,
        "widget-reader",
        {"role": "human", "content": ["What", picture, {"type": "text", "text": "moved?"}]},
        {"role": "ai", "content": [{"type": "text", "text": json.dumps(made)}]},
        {
            "role": "tool",
            "function": "get_widget_data",
            "content": [{"type": "text", "text": "[1]"}, {"type": "text", "text": "[2]"}],
        },
        **BODIES[generation],
    )
    assert events == [("copilotMessageChunk", {"delta": "It rose."})]
    said = model.requests[0]["messages"]
    assert [one["role"] for one in said] == ["system", "user", "assistant", "tool"]
    assert said[1]["content"] == "What\nmoved?"
    assert ">\n[1]\n[2]\n</data>" in said[3]["content"]
