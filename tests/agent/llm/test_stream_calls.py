"""Calls of tools are put together of the pieces in which servers send them, within bounds."""

import json

import pytest

from copilot_admin.agent.llm.tool_call_fragments import (
    MOST_ARGUMENT_VALUES,
    MOST_CALLS,
    ToolFragments,
)
from copilot_admin.agent.values.model_call import Finish, ToolCall, Usage
from copilot_admin.errors import LimitReached, ProviderBroke
from tests.agent.llm.stream_chunks import chunk, ended, finish, part


def calls_of(*payloads):
    return [(one.name, one.arguments) for one in ended(*payloads) if isinstance(one, ToolCall)]


def fragment(name, arguments, **more):
    return {"function": {"name": name, "arguments": arguments}, **more}


@pytest.mark.parametrize("id", [{}, {"id": "same"}, {"id": ""}])
def test_whole_calls_with_the_same_index_are_calls_of_their_own(id):
    first, second = (
        fragment("table", '{"a": 1}', index=0, **id),
        fragment("chart", "{}", index=0, **id),
    )
    both = [("table", '{"a": 1}'), ("chart", "{}")]
    assert calls_of(chunk(tool_calls=[first, second]), finish("tool_calls")) == both
    assert calls_of(chunk(tool_calls=[first]), chunk(tool_calls=[second]), finish("stop")) == both


def test_arguments_that_are_null_are_none():
    for null in ("null", " null\n", None):
        assert calls_of(chunk(tool_calls=[fragment("t", null)]), finish("stop")) == [("t", "")]
    assert calls_of(chunk(tool_calls=[fragment("t", "nul")]), finish("stop")) == [("t", "nul")]


def test_fragments_that_repeat_the_name_are_one_call_wherever_they_are_cut():
    parts = ('{"html": "{', 'x}"', "}")
    said = [chunk(tool_calls=[fragment("html", part, index=0)]) for part in parts]
    assert calls_of(*said, finish("tool_calls")) == [("html", "".join(parts))]


def test_a_call_in_the_old_and_the_new_form_is_one_call():
    call = fragment("table", "{}", index=0, id="c")
    old = {"name": "table", "arguments": "{}"}
    assert calls_of(chunk(tool_calls=[call], function_call=old), finish("stop")) == [
        ("table", "{}")
    ]
    assert calls_of(chunk(tool_calls=call), finish("stop")) == [("table", "{}")]
    in_pieces = (chunk(function_call={"name": "table"}), chunk(function_call={"arguments": "{}"}))
    assert calls_of(*in_pieces, finish("function_call")) == [("table", "{}")]


def fragments(*parts):
    collected = ToolFragments()
    for one in parts:
        collected.add(one)
    return [(call.id, call.name, call.arguments) for call in collected.calls()]


@pytest.mark.parametrize(
    "parts",
    [
        (part(0, "c1", "ta", ""), part(0, None, "ble", '{"a'), part(0, None, None, '": 1}')),
        (part(0, "c1", "table", '{"a'), part(0, "c1", "table", '": 1}')),
        (part(None, "c1", "table", '{"a'), part(None, None, None, '": 1}')),
        (part(None, "c1", "table", {"a": 1}),),
        (part(0, "", "table", '{"a'), part(0, "c1", "", '": 1}')),
    ],
)
def test_one_call_is_put_together(parts):
    assert fragments(*parts) == [("c1", "table", '{"a": 1}')]


@pytest.mark.parametrize(
    "parts",
    [
        (part(0, "c1", "a", "1"), part(1, "c2", "b", "2")),
        (part(0, "c1", "a", ""), part(1, "c2", "b", "2"), part(0, None, None, "1")),
        (part(0, "c1", "a", "1"), part(0, "c2", "b", "2")),
        (part(None, "c1", "a", "1"), part(None, "c2", "b", "2")),
    ],
)
def test_two_calls_are_kept_apart(parts):
    assert fragments(*parts) == [("c1", "a", "1"), ("c2", "b", "2")]


def test_calls_without_ids_or_indexes_are_sent_whole_and_get_ids():
    parts = (part(None, None, "a", "1"), part(None, None, "a", "2"))
    assert fragments(*parts) == [("made00000", "a", "1"), ("made00001", "a", "2")]


@pytest.mark.parametrize("odd", [None, 7, {}, {"function": 7}, part(0, "c1", None, "1")])
def test_fragments_without_a_name_are_no_call(odd):
    assert fragments(odd) == []


def test_as_many_calls_as_a_request_may_offer_tools_are_taken_and_no_more():
    collected = ToolFragments()
    for number in range(MOST_CALLS):
        collected.add(part(10**9 - number, f"c{number}", "table", "{}"))
    assert len(collected.calls()) == MOST_CALLS
    with pytest.raises(LimitReached, match="more than 128 tools"):
        collected.add(part(None, None, "table", "{}"))


@pytest.mark.parametrize("piece", ["x" * 1024, "é" * 512])
def test_a_megabyte_of_arguments_is_taken_and_no_more(piece):
    collected = ToolFragments()
    for number in range(1024):
        collected.add(part(number % 2, None, "table", piece))
    assert sum(len(call.arguments) for call in collected.calls()) == 1024 * len(piece)
    with pytest.raises(LimitReached, match="more than 1 MB of arguments"):
        collected.add(part(0, None, None, "x"))


def test_a_hundred_thousand_values_are_taken_for_one_call_and_no_more():
    def collected(values: int) -> ToolFragments:
        of = ToolFragments()
        for number in range(2):
            of.add(part(number, None, "table", "[" + "0," * (values - 3) + "0]"))
        return of

    assert len(collected(MOST_ARGUMENT_VALUES).calls()) == 2
    with pytest.raises(LimitReached, match="more than 100,000 values"):
        collected(MOST_ARGUMENT_VALUES + 1).calls()


def test_signs_within_texts_of_arguments_are_no_values():
    collected = ToolFragments()
    collected.add(part(0, "c", "html", json.dumps({"html": "[{,:" * 100_000})))
    assert [call.id for call in collected.calls()] == ["c"]


def test_empty_fragments_without_end_take_no_room():
    collected = ToolFragments()
    for _ in range(1000):
        collected.add(part(0, "c", "table", ""))
    [call] = collected._calls
    assert call.arguments == []


def test_endless_names_and_ids_are_cut():
    assert fragments(part(0, "i" * 1000, "n" * 1000, "1"), part(0, None, "n" * 1000, "2")) == [
        ("i" * 200, "n" * 200, "12")
    ]


def test_calls_with_the_same_id_get_one_of_their_own():
    parts = (part(0, "c", "a", "1"), part(1, "c", "b", "2"), part(2, "made00001", "c", "3"))
    assert fragments(*parts) == [
        ("c", "a", "1"),
        ("made00001x", "b", "2"),
        ("made00001", "c", "3"),
    ]


def test_arguments_nested_too_deep_to_be_written_down_break_the_answer():
    nested = json.loads('{"a":' * 900 + "1" + "}" * 900)
    for _ in range(200):
        nested = {"a": nested}
    with pytest.raises(ProviderBroke, match="no chat completion"):
        fragments(part(0, "c", "table", nested))


def test_tool_calls_come_at_the_end_of_an_answer_that_ended():
    fragment = {"index": 0, "id": "c", "function": {"name": "table", "arguments": "{}"}}
    finish = b'{"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}'
    assert ended(chunk(tool_calls=[fragment]), finish)[0] == ToolCall(
        id="c", name="table", arguments="{}"
    )
    assert [type(one) for one in ended(chunk(tool_calls=[fragment]))] == [Usage, Finish]


def test_function_call_of_old_servers_is_a_tool_call():
    payload = chunk(function_call={"name": "table", "arguments": "{}"})
    assert ended(payload, b"[DONE]")[0] == ToolCall(id="made00000", name="table", arguments="{}")
