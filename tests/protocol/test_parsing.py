"""Bodies are read leniently, their shape decides the generation; few are refused."""

import json
from typing import Any

import pytest

from protocol.data import DataMessage
from protocol.models import (
    ContextItem,
    DataItem,
    FileReference,
    Generation,
    HumanMessage,
    Query,
    SourceData,
    Widget,
    WidgetParam,
)
from protocol.parsing import UnusableQuery, parse_query

HUMAN = {"role": "human", "content": "q"}
SIGNED = "https://b.s3.amazonaws.com/a.pdf?X-Amz-Signature=canary"


def query(**fields: Any) -> Query:
    return parse_query(json.dumps({"messages": [HUMAN], **fields}).encode())


@pytest.mark.parametrize(
    ("body", "code", "public"),
    [
        ([], "not-an-object", "The body is not a JSON object."),
        ({}, "messages-empty", "messages list cannot be empty."),
        ({"messages": []}, "messages-empty", "messages list cannot be empty."),
        ({"messages": "hi"}, "messages-not-a-list", "messages is not a list. Send "),
        ({"messages": [{"role": "system"}, 5]}, "no-usable-message", "None of the messages can"),
        ({"messages": [HUMAN] * 2001}, "too-many-messages", "The chat has 2,001 messages; 2,000 "),
    ],
)
def test_body_that_asks_nothing_is_refused(body: Any, code: str, public: str):
    with pytest.raises(UnusableQuery) as refused:
        parse_query(json.dumps(body).encode())
    assert (refused.value.code, str(refused.value)) == (code, refused.value.public)
    assert refused.value.public.startswith(public)


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
    lists = ("urls", "tools", "skills_catalog", "selected_skills")
    known = {name: tuple(value) if name in lists else value for name, value in body.items()}
    del known["force_web_search"]
    assert query(**body) == Query(messages=(HumanMessage("q"),), env=body, **known)


FIELDS = (
    "widgets urls timezone model workspace_options workspace_state tools skills_catalog "
    "selected_skills"
)


@pytest.mark.parametrize("name", FIELDS.split())
@pytest.mark.parametrize("value", [5, "x", True, [1], {"a": 1}, [[]], [None]], ids=str)
def test_wrong_field_is_left_out_with_a_note_or_taken(name: str, value: Any):
    read_query = query(**{name: value})
    assert read_query.messages == (HumanMessage("q"),)
    fits = isinstance(value, dict) or (isinstance(value, str) and name in ("timezone", "model"))
    assert read_query.notes or fits


@pytest.mark.parametrize(
    ("fields", "notes"),
    [
        ({"timezone": 5}, ["`timezone` is not text"]),
        ({"tools": [5, 5]}, ["`tools[0]` is not an object", "`tools[1]` is not an object"]),
        ({"workspace_options": {"a": 5}}, ["`workspace_options.a` is not true or text"]),
        ({"skills_catalog": [{}]}, ["`skills_catalog[0]` is not a skill with a slug"]),
        ({"context": 5}, ["`context[0]` is not an object or text"]),
        ({"urls": ["https://x.example"] * 5},
         ["`urls` has more than 4 elements; the first 4 are used."]),
        ({"widgets": {"primary": [{"uuid": "u", "columns": [5]}, {"name": "n"}], "extra": "x"}},
         ["`widgets.primary[0].columns[0]` is not the name of a column",
          "`widgets.primary[1]` is not a widget with a uuid or a widget_id",
          "`widgets.extra` is not a list"]),
        ({"widgets": [{"uuid": "u", "params": [{"name": "a"}, {"name": "a"}, {}, 5]}]},
         ["`widgets[0].params[1]` repeats the parameter a; the first one is used.",
          "`widgets[0].params[2]` is not a parameter with a name",
          "`widgets[0].params[3]` is not an object"]),
    ],
)  # fmt: skip
def test_a_note_says_which_field_and_what_was_wanted(fields: dict, notes: list[str]):
    found = query(**fields).notes
    assert [one.removesuffix(" and was left out.") for one in found] == notes


def test_notes_have_an_end():
    assert len(query(urls=[5] * 100).notes) == 40


@pytest.mark.parametrize(
    ("raw", "options"),
    [
        ({"a": True, "b": False, "c": "x", "d": "", "e": None}, {"a": True, "c": "x"}),
        (["a", "b=x", "c = y z ", "d=", "e=f=g"], {"a": True, "b": "x", "c": "y z", "e": "f=g"}),
        ([" a ", "", 5], {"a": True}),
        (None, {}),
        ({"a": 1, "b": ["x"]}, {}),
    ],
)
def test_options_are_read_from_an_object_or_a_list(raw: Any, options: dict):
    assert query(workspace_options=raw).workspace_options == options


TEXT = SourceData((DataItem(content="x"),))
FILE = SourceData((FileReference(url=SIGNED),))


def note(**fields: Any) -> ContextItem:
    return ContextItem(message=DataMessage(**fields))


@pytest.mark.parametrize(
    ("raw", "items"),
    [
        (None, []),
        ("x", [ContextItem(data=TEXT)]),
        (["x", 5], [ContextItem(data=TEXT)]),
        ({"name": "n", "data": {"content": "x"}}, [ContextItem(name="n", data=TEXT)]),
        ([{"uuid": "u", "content": "x", "metadata": None}], [ContextItem(uuid="u", data=TEXT)]),
        ([{"description": "d", "metadata": {"a": 1}}],
         [ContextItem(description="d", metadata={"a": 1})]),
        ([{"data": {"items": [{"url": SIGNED}]}}], [ContextItem(data=FILE)]),
        ([{"type": "data", "data": None}], [note(data=None)]),
        ([{"type": "data", "kind": "2 ¶\n", "data": 1}], [note(kind="_2", data=1)]),
        ([{"type": "state", "tick": 3}], [note(kind="state", data={"tick": 3})]),
        ([{"role": "system", "content": {"type": "state", "kind": "", "state": [1]}}],
         [note(kind="state", data=[1])]),
    ],
)  # fmt: skip
def test_context_is_read_in_every_shape(raw: Any, items: list):
    assert list(query(context=raw).context) == items


def widget(**fields: Any) -> Widget:
    [read_widget] = query(widgets={"primary": [{"widget_id": "w", **fields}]}).widgets.primary
    return read_widget


def test_every_field_of_a_widget_and_its_params_is_read():
    texts = {"uuid": "u", "origin": "o", "name": "n", "description": "d", "source": "s"}
    more: dict[str, Any] = {"category": "c", "sub_category": "sc", "metadata": {"m": 1}}
    param: dict[str, Any] = {
        "name": "p",
        "type": "ticker",
        "description": "d",
        "default_value": "a",
        "current_value": "b",
        "executed_value": "c",
        "multi_select": True,
        "get_options": True,
    }
    raw = {
        **param,
        "options": ["a", {"value": "b"}],
        "split_param_on_citation": True,
        "options_params": [{"name": "n"}, 5],
        "language": "python",
    }
    read_param = WidgetParam(
        **param,
        options=("a", {"value": "b"}),
        split_on_citation=True,
        options_params=({"name": "n"},),
    )
    columns = ["a", 5, {"field": "b"}]
    assert widget(**texts, **more, columns=columns, params=[raw], split_param=None) == Widget(
        widget_id="w", **texts, **more, columns=("a", "b"), params=(read_param,)
    )
    assert (widget(origin="OpenBB Hub").ref, widget(uuid="u").ref) == ("OpenBB Hub/w", "u")


@pytest.mark.parametrize(
    ("values", "arguments"),
    [
        ({}, {}),
        ({"default_value": "<<UNDEFINED>>"}, {}),
        ({"default_value": None}, {"p": None}),
        ({"default_value": "d", "executed_value": "e"}, {"p": "e"}),
        ({"default_value": "d", "executed_value": "e", "current_value": "c"}, {"p": "c"}),
        ({"default_value": "d", "current_value": "<<UNDEFINED>>"}, {"p": "d"}),
        ({"current_value": ["a", "b"]}, {"p": ["a", "b"]}),
    ],
)
def test_value_to_ask_with(values: dict, arguments: dict):
    assert widget(params=[{"name": "p", **values}]).input_args() == arguments


def test_no_secret_is_left_in_what_a_reviewer_sees():
    read_query = query(
        tools=[{"name": "t", "url": "https://m.example", "auth_token": "canary"}],
        api_keys={"openai_api_key": "canary"},
        workspace_state={"authorization": "canary", "page": 1},
        context=[{"data": {"items": [{"url": SIGNED}]}}],
        urls=[SIGNED],
        headers={"X-API-Key": "canary"},
    )
    seen = [read_query.env, read_query.tools, read_query.workspace_state]
    assert "canary" not in json.dumps(seen)
    assert read_query.env["tools"] == [{"name": "t", "url": "https://m.example"}]
    assert not {"api_keys", "messages"} & read_query.env.keys()
    assert read_query.context == (ContextItem(data=FILE),)  # fetching needs the signature


@pytest.mark.parametrize("as_bytes", [True, False])
def test_texts_are_fit_for_every_database(as_bytes: bool):
    body: Any = {"messages": [{"role": "human", "content": "a\x00b\ud800"}], "model": "\x00"}
    read_query = parse_query(json.dumps(body).encode() if as_bytes else body)
    assert (read_query.messages, read_query.model) == ((HumanMessage("a\ufffdb\ufffd"),), "\ufffd")
    assert read_query.notes == ("Characters that cannot be stored were replaced with U+FFFD.",)


ONE, TWO, THREE = Generation
NO_UUID = {"widgets": {"primary": [{"origin": "o", "widget_id": "w"}]}}
WITH_UUID = {"widgets": {"primary": [], "extra": [{"widget_id": "w", "uuid": "u"}]}}
HUB_FILE = {"origin": "OpenBB Hub", "widget_id": "file-1", "name": "a.pdf"}
ONLY_FILES = {"widgets": {"primary": [HUB_FILE], "secondary": []}}
ONLY_THREE: dict[str, Any] = {
    "timezone": "UTC",
    "workspace_state": None,
    "workspace_options": [],
    "tools": [],
    "model": "m",
    "skills_catalog": [],
}
ARGUMENTS: dict[str, Any] = {"copilot_function_call_arguments": {}}


def generation_of(messages: list[Any], fields: Any, hint: Generation | None = None) -> Generation:
    return parse_query({"messages": [HUMAN, *messages], **fields}, hint=hint).generation


def call(**extra: Any) -> dict[str, Any]:
    content = {"function": "get_widget_data", "input_arguments": {}, **extra}
    return {"role": "ai", "content": content}


def tool(**fields: Any) -> dict[str, Any]:
    return {"role": "tool", "function": "get_widget_data", **fields}


UUID = {"input_arguments": {"widget_uuid": "u"}}
OF_ONE = [call(**UUID), tool(**UUID, data=[]), tool(content="x"), tool(data={"content": "x"})]
OF_TWO = [call(**ARGUMENTS), tool(**ARGUMENTS, data=[]), tool(data=[{"content": "x"}])]


@pytest.mark.parametrize(
    ("messages", "fields", "generation"),
    [
        ([], {"widgets": []}, ONE),
        *(([message], {}, ONE) for message in OF_ONE),
        ([tool(data={})], WITH_UUID, ONE),
        ([tool(data=[{"items": []}])], {"widgets": [{"uuid": "u"}]}, ONE),
        *(([message], {}, TWO) for message in OF_TWO),
        ([tool(data=[], extra_state={})], NO_UUID, TWO),
        *(([], {"widgets": {group: [{"widget_id": "w"}]}}, TWO) for group in ("primary", "extra")),
        ([], {"widgets": {"primary": [HUB_FILE, {"widget_id": "w"}]}}, TWO),
        ([], {"widgets": [{"uuid": "u"}], "timezone": "UTC"}, THREE),
        ([{"role": "ai", "content": "a", "agent_id": "x"}], NO_UUID, THREE),
        ([tool(data=[{"items": []}])], NO_UUID, THREE),
        ([tool(**UUID, data=[{"items": []}])], {}, THREE),
        ([tool(**ARGUMENTS, data=[{"items": []}])], {}, THREE),
        *((OF_ONE + OF_TWO, {**NO_UUID, key: one}, THREE) for key, one in ONLY_THREE.items()),
    ],
)
def test_the_shape_counts_whatever_the_hint(messages: list, fields: Any, generation: Generation):
    found = {generation_of(messages, fields, hint) for hint in (None, *Generation)}
    assert found == {generation}


@pytest.mark.parametrize(
    "fields", [{}, WITH_UUID, ONLY_FILES, {"widgets": None}, {"widgets": {"primary": "x"}}]
)
@pytest.mark.parametrize(
    "messages", [[], [call()], [tool(data=[])], [tool(data=[{"error_type": "e", "content": "x"}])]]
)
def test_silent_shape_follows_the_hint(messages: list, fields: dict):
    assert generation_of(messages, fields) is THREE
    for hint in Generation:
        assert generation_of(messages, fields, hint) is hint
