"""Bodies are read leniently; only one that asks nothing is refused."""

import json
from typing import Any

import pytest

from protocol.data import DataMessage
from protocol.models import (
    ContextItem,
    DataItem,
    FileReference,
    HumanMessage,
    Query,
    SourceData,
    Widget,
    WidgetParam,
)
from protocol.parsing import UnusableQuery, parse_query

HUMAN = {"role": "human", "content": "q"}


def query(**fields: Any) -> Query:
    return parse_query(json.dumps({"messages": [HUMAN], **fields}).encode())


@pytest.mark.parametrize(
    ("body", "code", "public"),
    [
        (b"[]", "not-an-object", 'The body is not a JSON object. Send {"messages": [...]}.'),
        (b"{}", "messages-empty", "messages list cannot be empty."),
        (b'{"messages":null}', "messages-empty", "messages list cannot be empty."),
        (b'{"messages":[]}', "messages-empty", "messages list cannot be empty."),
        (
            b'{"messages":"hi"}',
            "messages-not-a-list",
            'messages is not a list. Send {"messages": [{"role": "human", "content": "..."}]}.',
        ),
        (
            b'{"messages":[{"role":"system","content":"x"},5]}',
            "no-usable-message",
            'None of the messages can be read. Send at least one {"role": "human", "content":'
            ' "..."}.',
        ),
    ],
)
def test_body_that_asks_nothing_is_refused(body: bytes, code: str, public: str):
    with pytest.raises(UnusableQuery) as refused:
        parse_query(body)
    assert (refused.value.code, refused.value.public, str(refused.value)) == (code, public, public)


def test_history_may_have_as_many_messages_as_are_taken_and_not_one_more():
    body = {"messages": [{"role": "human", "content": "q"}] * 3}
    assert len(parse_query(body, max_messages=3).messages) == 3
    with pytest.raises(UnusableQuery) as refused:
        parse_query({"messages": [{"role": "human", "content": "q"}] * 2001})
    assert (refused.value.code, refused.value.public) == (
        "too-many-messages",
        "The chat has 2,001 messages; 2,000 are the most that this server takes. Start a new chat.",
    )


def test_everything_of_generation_three_is_read():
    body: dict[str, Any] = {
        "urls": ["https://a.example", "https://b.example"],
        "timezone": "Europe/Berlin",
        "model": "fast",
        "workspace_options": {"deep-research": True, "tone": "short"},
        "workspace_state": {"current_page_context": "dashboard"},
        "tools": [{"name": "search", "url": "https://mcp.example"}],
        "skills_catalog": [{"slug": "dcf", "description": "d"}],
        "selected_skills": [{"slug": "dcf", "contentMarkdown": "# DCF"}],
        "force_web_search": True,
    }
    read_query = query(**body)
    assert read_query == Query(
        messages=(HumanMessage("q"),),
        urls=("https://a.example", "https://b.example"),
        timezone="Europe/Berlin",
        model="fast",
        workspace_options={"deep-research": True, "tone": "short"},
        workspace_state={"current_page_context": "dashboard"},
        tools=({"name": "search", "url": "https://mcp.example"},),
        skills_catalog=({"slug": "dcf", "description": "d"},),
        selected_skills=({"slug": "dcf", "contentMarkdown": "# DCF"},),
        env=body,
    )


WRONG: list[Any] = [5, "x", True, [1], {"a": 1}, [[]], [None]]
FIELDS = [
    *("widgets", "urls", "timezone", "model", "workspace_options", "workspace_state", "tools"),
    *("skills_catalog", "selected_skills"),
]


@pytest.mark.parametrize("name", FIELDS)
@pytest.mark.parametrize("value", WRONG, ids=str)
def test_wrong_field_is_left_out_with_a_note_or_taken(name: str, value: Any):
    read_query = query(**{name: value})
    assert read_query.messages == (HumanMessage("q"),)
    fits = isinstance(value, dict) or (isinstance(value, str) and name in ("timezone", "model"))
    assert read_query.notes or fits


def test_a_note_says_which_field_and_what_was_wanted():
    read_query = query(
        timezone=5,
        urls="x",
        tools=[5],
        workspace_options={"a": 5, "b": "x"},
        widgets={"primary": [{"uuid": "u", "columns": ["day", 5]}]},
    )
    assert set(read_query.notes) == {
        "`timezone` is not text and was left out.",
        "`urls` is not a list and was left out.",
        "`tools[0]` is not an object and was left out.",
        "`workspace_options.a` is not true or text and was left out.",
        "`widgets.primary[0].columns[1]` is not the name of a column and was left out.",
    }


def test_notes_are_said_once_and_have_an_end():
    notes = query(urls=[5] * 100, tools=[5, 5]).notes
    assert len(notes) == 40


def test_only_four_urls_are_used():
    read_query = query(urls=[f"https://x.example/{number}" for number in range(5)])
    assert len(read_query.urls) == 4
    assert read_query.notes == ("`urls` has more than 4 elements; the first 4 are used.",)


def test_skill_needs_a_slug():
    read_query = query(skills_catalog=[{"description": "x"}, {"slug": "a"}])
    assert read_query.skills_catalog == ({"slug": "a"},)
    assert read_query.notes == ("`skills_catalog[0]` is not a skill with a slug and was left out.",)


@pytest.mark.parametrize(
    ("raw", "options"),
    [
        ({"a": True, "b": False, "c": "x", "d": "", "e": None}, {"a": True, "c": "x"}),
        (["a", "b=x", "c = y z ", "d=", "e=f=g"], {"a": True, "b": "x", "c": "y z", "e": "f=g"}),
        ([" a ", "", 5], {"a": True}),
        ({}, {}),
        (None, {}),
        ({"a": 1, "b": ["x"]}, {}),
    ],
)
def test_options_are_read_from_an_object_or_a_list(raw: Any, options: dict):
    assert query(workspace_options=raw).workspace_options == options


# --- context -------------------------------------------------------------------------------------

TEXT = SourceData((DataItem(content="x"),))


@pytest.mark.parametrize(
    ("raw", "items"),
    [
        (None, ()),
        ([], ()),
        ("x", (ContextItem(data=TEXT),)),
        (["x", 5], (ContextItem(data=TEXT),)),
        ({"name": "n", "data": {"content": "x"}}, (ContextItem(name="n", data=TEXT),)),
        (
            [{"description": "d", "metadata": {"a": 1}}],
            (ContextItem(description="d", metadata={"a": 1}),),
        ),
        (
            [{"data": {"items": [{"url": "https://x.example/a"}]}}],
            (ContextItem(data=SourceData((FileReference(url="https://x.example/a"),))),),
        ),
    ],
)
def test_context_is_read_in_every_shape(raw: Any, items: tuple):
    assert query(context=raw).context == items


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"type": "data", "data": None}, DataMessage(data=None)),
        ({"type": "data", "kind": "2 ¶\n", "data": 1}, DataMessage(kind="_2", data=1)),
        ({"type": "state", "tick": 3}, DataMessage(kind="state", data={"tick": 3})),
        ({"type": "error", "error": "e"}, DataMessage(kind="error", data="e")),
        (
            {"role": "system", "content": {"type": "state", "kind": "", "state": [1]}},
            DataMessage(kind="state", data=[1]),
        ),
    ],
)
def test_context_may_hold_data_messages_of_every_type(raw: Any, message: DataMessage):
    assert query(context=[raw]).context == (ContextItem(message=message),)


def test_wrong_context_is_noted():
    assert query(context=5).notes == ("`context[0]` is not an object or text and was left out.",)


# --- widgets -------------------------------------------------------------------------------------


def widget(**fields: Any) -> Widget:
    [read_widget] = query(widgets={"primary": [{"widget_id": "w", **fields}]}).widgets.primary
    return read_widget


def param(**fields: Any) -> WidgetParam:
    [read_param] = widget(params=[{"name": "p", **fields}]).params
    return read_param


def test_every_field_of_a_widget_is_read():
    assert widget(
        uuid="u",
        origin="o",
        name="n",
        description="d",
        source="s",
        category="c",
        sub_category="sc",
        columns=["a", 5, "b"],
        metadata={"m": 1},
        split_param=None,
    ) == Widget(
        uuid="u",
        origin="o",
        widget_id="w",
        name="n",
        description="d",
        source="s",
        category="c",
        sub_category="sc",
        columns=("a", "b"),
        metadata={"m": 1},
    )


def test_widget_that_cannot_be_asked_for_is_left_out():
    read_query = query(widgets={"primary": [{"name": "n"}, 5], "extra": "x"})
    assert read_query.widgets.all() == ()
    assert read_query.notes == (
        "`widgets.primary[0]` is not a widget with a uuid or a widget_id and was left out.",
        "`widgets.primary[1]` is not an object and was left out.",
        "`widgets.extra` is not a list and was left out.",
    )


def test_every_field_of_a_param_is_read():
    assert param(
        type="ticker",
        description="d",
        default_value="a",
        current_value="b",
        executed_value="c",
        options=["a", {"label": "B", "value": "b"}],
        multi_select=True,
        split_param_on_citation=True,
        get_options=True,
        options_params=[{"name": "n", "inherit_value_from": "x"}, 5],
        language="python",
    ) == WidgetParam(
        name="p",
        type="ticker",
        description="d",
        default_value="a",
        current_value="b",
        executed_value="c",
        options=("a", {"label": "B", "value": "b"}),
        multi_select=True,
        split_on_citation=True,
        get_options=True,
        options_params=({"name": "n", "inherit_value_from": "x"},),
    )


@pytest.mark.parametrize(
    ("values", "arguments"),
    [
        ({}, {}),
        ({"default_value": "<<UNDEFINED>>"}, {}),
        ({"default_value": None}, {"p": None}),
        ({"default_value": "d"}, {"p": "d"}),
        ({"default_value": "d", "executed_value": "e"}, {"p": "e"}),
        ({"default_value": "d", "executed_value": "e", "current_value": "c"}, {"p": "c"}),
        ({"default_value": "d", "current_value": "<<UNDEFINED>>"}, {"p": "d"}),
        ({"current_value": ["a", "b"]}, {"p": ["a", "b"]}),
    ],
)
def test_value_to_ask_with(values: dict, arguments: dict):
    assert widget(params=[{"name": "p", **values}]).input_args() == arguments


def test_odd_params_are_left_out_with_a_note():
    read_query = query(
        widgets=[
            {
                "uuid": "u",
                "params": [
                    {"name": "a", "current_value": 1},
                    {"name": "a", "current_value": 2},
                    {"description": "nameless"},
                    5,
                ],
            }
        ]
    )
    assert read_query.widgets.primary[0].input_args() == {"a": 1}
    assert set(read_query.notes) == {
        "`widgets[0].params[1]` repeats the parameter a; the first one is used.",
        "`widgets[0].params[2]` is not a parameter with a name and was left out.",
        "`widgets[0].params[3]` is not an object and was left out.",
    }


# --- secrets and characters ----------------------------------------------------------------------


def test_no_secret_is_left_in_what_a_reviewer_sees():
    signed = "https://b.s3.amazonaws.com/a.pdf?X-Amz-Signature=canary"
    read_query = query(
        tools=[{"name": "t", "url": "https://m.example", "auth_token": "canary"}],
        api_keys={"openai_api_key": "canary"},
        workspace_state={"authorization": "canary", "page": 1},
        context=[{"data": {"items": [{"url": signed}]}}],
        urls=[signed],
        headers={"X-API-Key": "canary"},
    )
    assert "canary" not in json.dumps([read_query.env, read_query.tools])
    assert "canary" not in repr(read_query.workspace_state)
    assert read_query.env["tools"] == [{"name": "t", "url": "https://m.example"}]
    assert "api_keys" not in read_query.env
    assert "messages" not in read_query.env


def test_file_keeps_the_signature_that_fetching_needs():
    signed = "https://b.s3.amazonaws.com/a.pdf?X-Amz-Signature=canary"
    tool: Any = {"role": "tool", "function": "f", "data": [{"items": [{"url": signed}]}]}
    [message] = parse_query({"messages": [tool]}).messages
    assert message.data == (SourceData((FileReference(url=signed),)),)  # type: ignore[union-attr]  # a result


@pytest.mark.parametrize("as_bytes", [True, False])
def test_texts_are_fit_for_every_database(as_bytes: bool):
    body: Any = {"messages": [{"role": "human", "content": "a\x00b\ud800"}], "model": "\x00"}
    read_query = parse_query(json.dumps(body).encode() if as_bytes else body)
    assert read_query.messages == (HumanMessage("a\ufffdb\ufffd"),)
    assert read_query.model == "\ufffd"
    assert read_query.notes == ("Characters that cannot be stored were replaced with U+FFFD.",)
