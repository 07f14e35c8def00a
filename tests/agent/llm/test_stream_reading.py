"""Chunks of a chat completion stream to text and thoughts, in every form that servers write."""

import json

import pytest

from copilot_admin.agent.llm.chat_chunks import ChunkReader
from copilot_admin.agent.llm.data_lines import MAX_EVENT_BYTES
from copilot_admin.agent.values.model_call import Finish, ReasoningDelta, TextDelta, ToolCall
from tests.agent.llm.stream_chunks import CALL, choices, chunk, ended, finish, read


def test_chunks_of_one_read_are_one_delta():
    assert read(chunk(content="a"), chunk(content="b")) == [TextDelta("ab")]


@pytest.mark.parametrize(
    "delta",
    [
        {"content": "hi"},
        {"role": "assistant", "content": "hi", "extra": 1},
        {"content": [{"type": "text", "text": "h"}, {"text": "i"}, {"text": 3}, "x"]},
        {"content": {"type": "text", "text": "hi"}},
        {"content": None, "refusal": "hi"},
        {"refusal": "hi"},
    ],
)
def test_text_in_every_known_form(delta):
    assert read(chunk(**delta)) == [TextDelta("hi")]


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thoughts_come_before_the_words_of_the_same_read(name):
    assert read(chunk(**{name: "hm"}), chunk(content="yes")) == [
        ReasoningDelta("hm"),
        TextDelta("yes"),
    ]


@pytest.mark.parametrize(
    "payload",
    [
        b"{}",
        b'{"choices": []}',
        b'{"choices": null}',
        b'{"choices": [7]}',
        b'{"choices": [{"delta": null}]}',
        b'{"choices": [{"delta": {"content": 7, "tool_calls": 7, "reasoning": 7}}]}',
        b'{"choices": [{"delta": {"tool_calls": [7]}}]}',
        b'{"choices": [{"delta": {"content": ""}}]}',
        b'{"choices": {"a": 1}, "usage": 7}',
        b'{"error": null}',
        b"",
        b"  ",
    ],
)
def test_chunks_that_say_nothing_are_passed_over(payload):
    assert read(payload) == []


@pytest.mark.parametrize(
    ("payloads", "text"),
    [
        ([choices((0, "a")), choices((1, "x")), choices((0, "b"))], "ab"),
        ([choices((0, "a"), (1, "x")), choices((1, "x"), (0, "b"))], "ab"),
        ([choices((1, "a")), choices((0, "x"), (1, "b"))], "ab"),
        ([choices((None, "a"), (None, "x")), chunk(content="b")], "ab"),
        ([b'{"choices": [7, {"index": 0, "delta": {"content": "ab"}}]}'], "ab"),
    ],
)
def test_of_several_choices_one_is_read(payloads, text):
    assert read(*payloads) == [TextDelta(text)]


def test_the_end_and_the_calls_of_another_choice_are_not_those_of_the_answer():
    reader = ChunkReader()
    call = {"index": 0, "id": "c", "function": {"name": "table", "arguments": "{}"}}
    other = {"index": 1, "delta": {"tool_calls": [call]}, "finish_reason": "length"}
    reader.read([choices((0, "a")), json.dumps({"choices": [other]}).encode()])
    assert not reader.said_why
    reader.read([finish("stop")])
    assert reader.end(CALL)[-1] == Finish("stop")
    assert not [delta for delta in reader.end(CALL) if isinstance(delta, ToolCall)]


def test_message_of_a_server_that_does_not_stream_is_read():
    body = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
    reader = ChunkReader()
    assert reader.read([json.dumps(body).encode()]) == [TextDelta("hi")]
    assert reader.said_why


def test_pieces_that_are_called_messages_are_all_read():
    reader = ChunkReader()
    pieces = [{"choices": [{"message": {"content": text}}]} for text in ("Hel", "lo", "!")]
    payloads = [json.dumps(piece).encode() for piece in pieces]
    deltas = [delta for payload in payloads for delta in reader.read([payload])]
    assert deltas == [TextDelta("Hel"), TextDelta("lo"), TextDelta("!")]


def test_a_whole_message_behind_the_pieces_of_it_is_no_second_answer():
    call = {"index": 0, "id": "c", "function": {"name": "table", "arguments": "{}"}}
    for said in ({"content": "hi"}, {"tool_calls": [call]}):
        last = {"choices": [{"delta": {}, "message": said, "finish_reason": "stop"}]}
        reader = ChunkReader()
        deltas = reader.read([chunk(role="assistant"), chunk(**said), json.dumps(last).encode()])
        deltas += reader.end(CALL)[:1]
        assert deltas[0] in (TextDelta("hi"), ToolCall(id="c", name="table", arguments="{}"))


@pytest.mark.parametrize("thought", [[{"type": "text", "text": "hm"}], "hm", ["hm", 7, {}]])
def test_thoughts_that_are_a_part_of_the_content_are_thoughts(thought):
    part = {"type": "thinking", "thinking": thought}
    reader = ChunkReader()
    assert reader.read([chunk(content=[part])]) == [ReasoningDelta("hm")]
    assert reader.began


def test_character_in_two_halves_is_put_together():
    reader = ChunkReader()
    assert reader.read([b'{"choices": [{"delta": {"content": "a\\ud83d"}}]}']) == [TextDelta("a")]
    assert reader.read([b'{"choices": [{"delta": {"content": "\\ude00b"}}]}']) == [
        TextDelta("\U0001f600b")
    ]


def test_half_that_is_alone_and_broken_bytes_become_a_mark():
    assert read(b'{"choices": [{"delta": {"content": "a\\ude00b\xff"}}]}') == [
        TextDelta("a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}")
    ]
    reader = ChunkReader()
    assert reader.read([b'{"choices": [{"delta": {"content": "\\ud83d"}}]}']) == []
    assert reader.read([chunk(reasoning="é")]) == [ReasoningDelta("é")]


def test_half_a_character_at_the_end_becomes_a_mark():
    half = b'{"choices": [{"delta": {"content": "a\\ud83d"}}]}'
    assert ended(half, finish("stop"))[0] == TextDelta("\N{REPLACEMENT CHARACTER}")


def test_a_whole_answer_with_the_weights_of_its_tokens_is_read():
    token = {"token": "word", "logprob": -0.125, "bytes": [119, 111], "top_logprobs": []}
    choice = {
        "message": {"content": "Hi"},
        "logprobs": {"content": [token] * 10_000},
        "finish_reason": "stop",
    }
    body = json.dumps({"choices": [choice]}, separators=(",", ":")).encode()
    assert 700_000 < len(body) < MAX_EVENT_BYTES
    assert read(body) == [TextDelta("Hi")]
