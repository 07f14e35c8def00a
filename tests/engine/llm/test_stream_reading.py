"""Bytes of a chat completion stream to deltas, without a network."""

from dataclasses import replace
from itertools import pairwise
import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.engine.llm import data_lines
from copilot_admin.engine.llm.call_limits import MOST_ARGUMENT_VALUES, MOST_CALLS
from copilot_admin.engine.llm.chat_chunks import ChunkReader, StreamError
from copilot_admin.engine.llm.chat_request import request_body
from copilot_admin.engine.llm.data_lines import (
    MAX_BYTES_WITHOUT_DATA,
    MAX_EVENT_BYTES,
    DataLines,
    EitherForm,
    WholeAnswer,
)
from copilot_admin.engine.llm.endings import truncation
from copilot_admin.engine.llm.fragments import ToolFragments
from copilot_admin.engine.values.model_call import (
    Finish,
    ModelCall,
    ModelImage,
    ModelMessage,
    ModelRole,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolSchema,
    Usage,
    UsageSource,
)
from copilot_admin.errors import LimitReached, ProviderBroke, ProviderUnavailable

CALL = ModelCall(model="m", messages=(ModelMessage(role=ModelRole.USER, text="12345"),))
FEW_BYTES = 64 * 1024


@pytest.fixture
def _few_bytes(monkeypatch):
    """What is read line by line is less than a mebibyte of it: each line is a step."""
    assert MAX_EVENT_BYTES == MAX_BYTES_WITHOUT_DATA == 1024 * 1024
    for name in ("MAX_EVENT_BYTES", "MAX_BYTES_WITHOUT_DATA"):
        monkeypatch.setattr(data_lines, name, FEW_BYTES)


def lines_of(*blocks):
    lines = DataLines()
    return [data for block in blocks for data in lines.feed(block)] + lines.end()


def chunk(**delta):
    return json.dumps({"choices": [{"delta": delta}]}).encode()


def finish(reason):
    return json.dumps({"choices": [{"delta": {}, "finish_reason": reason}]}).encode()


def read(*payloads):
    return ChunkReader().read(payloads)


def ended(*payloads):
    reader = ChunkReader()
    reader.read(payloads)
    return reader.end(CALL)


@pytest.mark.parametrize(
    "block",
    [
        b"data: one\n\ndata: two\n\n",
        b"data: one\r\n\r\ndata: two\r\n\r\n",
        b"data: one\r\rdata: two\r\r",
        b"\xef\xbb\xbfdata: one\n\ndata: two\n\n",
        b": hello\n\ndata: one\n\n\n\n: ping\ndata: two\n\n",
        b"event: x\nid: 1\ndata:one\n\ndata:two\n\n",
        b"data: one\n\ndata: two",
        b"data: one\n\ndata: two\n",
    ],
)
def test_events_are_found_whatever_ends_their_lines(block):
    assert lines_of(block) == [b"one", b"two"]
    assert lines_of(*(bytes([byte]) for byte in block)) == [b"one", b"two"]


def test_lines_of_one_event_are_joined():
    assert lines_of(b"data: {\ndata: }\n\n") == [b"{\n}"]


def test_several_whole_events_in_one_block_are_all_found():
    assert DataLines().feed(b"data: one\n\ndata: two\n\n") == [b"one", b"two"]
    assert DataLines().feed(b"data: one\ndata: more\n\nid: 2\n\n") == [b"one\nmore"]


def test_comment_before_a_whole_event_is_passed_over():
    assert lines_of(b": ping\n\ndata: one\n\n") == [b"one"]


def test_stream_of_comments_only_has_no_data():
    assert lines_of(b": a\n\n: b\n\n") == []


@given(
    texts=st.lists(st.text(st.characters(exclude_characters="\r\n", codec="utf-8")), max_size=5),
    cuts=st.lists(st.integers(0, 200), max_size=8),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_any_cut_of_the_bytes_gives_the_same_events(texts, cuts, end):
    whole = "".join(f"data: {text}{end}{end}" for text in texts).encode()
    places = [0, *sorted(cut % (len(whole) + 1) for cut in cuts), len(whole)]
    blocks = [whole[a:b] for a, b in pairwise(places)]
    assert lines_of(*blocks) == [text.encode() for text in texts]


@pytest.mark.parametrize(
    "block",
    [
        b"data: " + b"x" * (MAX_EVENT_BYTES + 1) + b"\n",
        b"data: " + b"x" * (MAX_EVENT_BYTES + 1),
        (b"data: " + b"x" * 1000 + b"\n") * 1100,
    ],
)
def test_event_of_more_than_a_mebibyte_is_an_error(block):
    with pytest.raises(ProviderBroke, match="more than 1 MiB"):
        DataLines().feed(block)


@pytest.mark.usefixtures("_few_bytes")
def test_lines_without_data_count_as_well():
    lines = DataLines()
    lines.feed(b"data:\n" * FEW_BYTES)
    with pytest.raises(ProviderBroke, match="more than 1 MiB"):
        lines.feed(b"data: x\n")


def test_events_before_one_that_is_too_large_are_kept():
    lines = DataLines()
    assert lines.feed(b"data: one\n\ndata: " + b"x" * (MAX_EVENT_BYTES + 1)) == [b"one"]
    with pytest.raises(ProviderBroke, match="more than 1 MiB"):
        lines.check()


def test_stream_is_read_up_to_a_limit(monkeypatch):
    monkeypatch.setattr(data_lines, "MAX_STREAM_BYTES", 19)
    lines = DataLines()
    assert lines.feed(b"data: one\n\n: ping\n\n") == [b"one"]
    lines.check()
    with pytest.raises(ProviderBroke, match="more than 256 MiB"):
        lines.feed(b"\n")


@pytest.mark.parametrize(
    "page", [b"<!doctype html>\n<html>", b"\r\n  <html>\n", b"\xef\xbb\xbf<?xml version='1.0'?>\n"]
)
def test_page_in_the_place_of_a_stream_is_named(page):
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        DataLines().feed(page)
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        lines_of(page.strip())


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf", b" \r\n\n"])
def test_the_form_of_a_body_shows_in_its_first_sign(before):
    for block, said in ((b"{}\n\n{}", b"{}\n\n{}"), (b"data: {}\n\n", b"{}"), (b"[]", b"[]")):
        for blocks in ([before + block], [bytes([byte]) for byte in before + block]):
            body = EitherForm()
            found = [data for one in blocks for data in body.feed(one)]
            body.check()
            assert body.held == (0 if block.startswith(b"data") else len(block))
            assert found + body.end() == [said]
            assert (body.held, body.end()) == (0, [])


@pytest.mark.usefixtures("_few_bytes")
def test_of_a_body_that_has_not_begun_blanks_are_counted():
    body = EitherForm()
    with pytest.raises(ProviderBroke, match="blank lines or comments"):
        for _ in range(3):
            body.feed(b"\n" * (FEW_BYTES // 2))
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        EitherForm().feed(b"\n<!doctype html>\n")


def test_several_documents_are_no_half_of_one():
    whole, half = b'{"a": 1}', b'{"choices": [{"delta'
    for payload, error in ((whole + b"\n" + whole, ProviderBroke), (half, ProviderUnavailable)):
        with pytest.raises(error):
            ChunkReader().read_last([payload])


def test_mark_before_a_whole_body_is_passed_over():
    body = WholeAnswer()
    body.feed(b"\xef\xbb\xbf{}")
    body.check()
    assert body.end() == [b"{}"]


def test_event_of_exactly_a_mebibyte_is_read():
    assert lines_of(b"data: " + b"x" * MAX_EVENT_BYTES + b"\n", b"\n") == [b"x" * MAX_EVENT_BYTES]


def test_whole_body_is_read_up_to_the_same_limit():
    body = WholeAnswer()
    assert [body.feed(b"a"), body.feed(b"b"), body.end()] == [[], [], [b"ab"]]
    with pytest.raises(ProviderBroke, match="more than 1 MiB"):
        body.feed(b"x" * MAX_EVENT_BYTES)


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


@pytest.mark.parametrize("payload", [b"[]", b"7", b"{", b"[" * 100_000, b"hello"])
def test_chunk_that_is_no_object_breaks_the_answer(payload):
    with pytest.raises(ProviderBroke, match="no chat completion"):
        read(payload)


def choices(*said):
    rows = [{"index": index, "delta": {"content": text}} for index, text in said]
    return json.dumps({"choices": rows}).encode()


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


@pytest.mark.parametrize(
    "payload",
    [
        b'{"object": "error", "message": "boom"}',
        b'{"type": "error", "message": "boom"}',
        b'{"code": 50000, "message": "boom"}',
        b'{"detail": "boom"}',
    ],
)
def test_a_chunk_that_is_itself_an_error_ends_the_answer(payload):
    with pytest.raises(StreamError) as caught:
        read(payload, b"[DONE]")
    assert "boom" in caught.value.error.values()


@pytest.mark.parametrize(
    "payload",
    [
        b'{"code": 0, "message": "ok"}',
        b'{"message": "queued"}',
        b'{"choices": [], "detail": "x"}',
        b'{"usage": {}, "detail": "x"}',
        b'{"message": {"content": "x"}, "code": 7}',
    ],
)
def test_a_chunk_that_says_that_all_is_well_does_not(payload):
    assert read(payload) == []


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b'{"message": "boom"}', {"message": "boom"}),
        (b'{"error": {"message": "boom"}}', {"message": "boom"}),
        (b"boom", "boom"),
    ],
)
def test_an_event_that_is_called_an_error_is_one_whatever_follows_it(data, error):
    block = b"event: error\ndata: " + data + b"\n\ndata: [DONE]\n\n"
    for blocks in ([block], [bytes([byte]) for byte in block], [block[:13], block[13:]]):
        with pytest.raises(StreamError) as caught:
            read(*lines_of(*blocks))
        assert caught.value.error == error


def test_an_error_without_data_is_no_event_and_the_next_one_is_none():
    assert read(*lines_of(b"event: error\n\n", b"data: " + chunk(content="a") + b"\n\n")) == [
        TextDelta("a")
    ]
    assert read(*lines_of(b"event: message\ndata: " + chunk(content="a"))) == [TextDelta("a")]


def test_error_object_in_the_stream_is_raised():
    with pytest.raises(StreamError) as caught:
        read(b'{"error": {"message": "boom"}}')
    assert caught.value.error == {"message": "boom"}


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


@pytest.mark.parametrize("done", [b"[DONE]", b"  [DONE] "])
def test_nothing_after_done_is_read(done):
    reader = ChunkReader()
    assert reader.read([chunk(content="a"), done, b"not json"]) == [TextDelta("a")]
    assert reader.done


@pytest.mark.parametrize(
    ("payloads", "reason"),
    [
        ([chunk(content="a")], None),
        ([chunk(reasoning="a")], None),
        ([chunk(content="a"), b"[DONE]"], "stop"),
        ([b'{"choices": [{"delta": {}, "finish_reason": "length"}]}'], "length"),
        ([b'{"choices": [{"delta": {}, "finish_reason": "length"}]}', b"[DONE]"], "length"),
        ([chunk(content="a"), finish("")], None),
        ([chunk(content="a"), finish(None)], None),
        ([finish("stop"), finish("tool_calls")], "tool_calls"),
        ([finish("length"), finish("stop")], "length"),
        ([finish("x" * 10_000)], "x" * 50),
        ([finish(["stop"]), finish("stop")], "stop"),
    ],
)
def test_finish_is_what_the_provider_said_or_nothing(payloads, reason):
    assert ended(*payloads)[-1] == Finish(reason)


@pytest.mark.parametrize(
    "payloads",
    [
        [],
        [b"[DONE]"],
        [b"{}", b"[DONE]"],
        [chunk(role="assistant", content=""), b"[DONE]"],
        [chunk(reasoning="hm"), b"[DONE]"],
        [chunk(tool_calls=[{"index": 0, "id": "c"}]), b"[DONE]"],
        [b'{"choices": [], "usage": {"prompt_tokens": 3}}', b"[DONE]"],
        [finish(""), finish(None)],
    ],
)
def test_stream_that_says_nothing_is_no_answer(payloads):
    with pytest.raises(ProviderBroke, match="sent no text, no call of a tool and no reason"):
        ended(*payloads)


@pytest.mark.parametrize(
    "reason",
    [
        *("length", "MAX_TOKENS", "model_length", "SAFETY", "error", "content_filter", "abort"),
        *("content-filter", "time_limit", "sensitive", "refusal", "network_error", "BLOCKLIST"),
    ],
)
def test_reasons_of_other_vendors_that_mean_a_cut_answer_are_known(reason):
    sentence = truncation(Finish(reason))
    assert sentence is not None
    assert sentence.startswith("The answer was cut off")


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "eos", "end_turn", "wherever"])
def test_other_reasons_are_those_of_a_whole_answer(reason):
    assert truncation(Finish(reason)) is None


def test_words_before_a_chunk_that_breaks_the_answer_are_kept():
    for last in (b'{"error": "boom"}', b"hello", b"<html>"):
        reader = ChunkReader()
        with pytest.raises((StreamError, ProviderBroke)):
            reader.read([chunk(content="Half"), last])
        assert reader.rest() == [TextDelta("Half")]
        assert reader.rest() == []


def test_half_a_character_at_the_end_becomes_a_mark():
    half = b'{"choices": [{"delta": {"content": "a\\ud83d"}}]}'
    assert ended(half, finish("stop"))[0] == TextDelta("\N{REPLACEMENT CHARACTER}")


@pytest.mark.parametrize("payload", [b"<html>", b"\xef\xbb\xbf \n<!doctype html>"])
def test_page_in_the_place_of_a_chunk_is_named(payload):
    with pytest.raises(ProviderBroke, match="answered with a web page"):
        read(payload)


def test_a_number_that_nobody_counts_to_takes_nothing_from_the_words_beside_it():
    payload = b'{"created": %s, "choices": [{"delta": {"content": "Hi"}}]}' % (b"9" * 5000)
    assert ChunkReader().read([payload]) == [TextDelta("Hi")]


def test_usage_of_the_last_chunk_counts():
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    payloads = (
        chunk(content="a"),
        b'{"usage": {"prompt_tokens": 1}}',
        json.dumps({"choices": [], "usage": usage}).encode(),
    )
    assert ended(*payloads)[0] == Usage(
        input_tokens=12, cached_tokens=4, output_tokens=5, reasoning_tokens=2
    )


@pytest.mark.parametrize(
    ("usage", "counted"),
    [
        ({"prompt_tokens": 2.0, "prompt_cache_hit_tokens": 1}, (2, 1, 0)),
        ({"prompt_tokens": None, "completion_tokens": 7, "prompt_tokens_details": 3}, (0, 0, 7)),
        ({"prompt_tokens": 3, "prompt_tokens_details": {"cached_tokens": "x"}}, (3, 0, 0)),
        ({"completion_tokens": 10**9}, (0, 0, 10**9)),
    ],
)
def test_usage_of_odd_servers_is_read_as_far_as_it_goes(usage, counted):
    payload = json.dumps({"usage": usage}).encode()
    found = ended(chunk(content="a"), payload)[0]
    assert (found.input_tokens, found.cached_tokens, found.output_tokens) == counted
    assert found.source is UsageSource.PROVIDER


@pytest.mark.parametrize(
    ("written", "thought", "total", "output"),
    [
        (50, 40, 150, 50),  # a part of what was written, as with OpenAI
        (50, 40, None, 50),
        (50, 40, 190, 90),  # beside it, as the total tells
        (10, 40, None, 50),  # more than was written is no part of it
        (50, 0, 150, 50),
        (0, 0, 0, 0),
    ],
)
def test_thoughts_are_counted_once_wherever_a_server_counts_them(written, thought, total, output):
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": written,
        "total_tokens": total,
        "completion_tokens_details": {"reasoning_tokens": thought},
    }
    found = ended(chunk(content="a"), json.dumps({"usage": usage}).encode())[0]
    assert (found.output_tokens, found.reasoning_tokens) == (output, thought)


@pytest.mark.parametrize(
    "count",
    ["NaN", "Infinity", "-Infinity", "1e999", "-1", "1000000001", "9" * 400, '"7"', "[7]", "{}",
     "true"],
)  # fmt: skip
def test_usage_that_no_one_can_have_counted_is_none(count):
    for key in ("prompt_tokens", "completion_tokens"):
        payload = f'{{"usage": {{"prompt_tokens": 1, "{key}": {count}}}}}'.encode()
        assert ended(chunk(content="123456789"), payload)[0] == Usage(
            input_tokens=2, output_tokens=3, source=UsageSource.ESTIMATED
        )


def test_usage_that_is_none_does_not_undo_the_one_before():
    payloads = (
        b'{"usage": {"prompt_tokens": 5}}',
        b'{"usage": {"prompt_tokens": NaN}}',
        b'{"usage": {}}',
    )
    assert ended(chunk(content="a"), *payloads)[0] == Usage(input_tokens=5)


def test_tokens_are_estimated_when_nobody_counted_them():
    assert ended(chunk(content="123456789"))[0] == Usage(
        input_tokens=2, output_tokens=3, source=UsageSource.ESTIMATED
    )


def fragments(*parts):
    collected = ToolFragments()
    for part in parts:
        collected.add(part)
    return [(call.id, call.name, call.arguments) for call in collected.calls()]


def part(index=None, id=None, name=None, arguments=None):
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": id, "function": function}


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


def test_error_that_is_the_whole_chunk_is_raised():
    with pytest.raises(StreamError) as caught:
        read(b'{"object": "error", "message": "boom", "code": 400}')
    assert caught.value.error == {"object": "error", "message": "boom", "code": 400}


def test_tool_calls_come_at_the_end_of_an_answer_that_ended():
    fragment = {"index": 0, "id": "c", "function": {"name": "table", "arguments": "{}"}}
    finish = b'{"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}'
    assert ended(chunk(tool_calls=[fragment]), finish)[0] == ToolCall(
        id="c", name="table", arguments="{}"
    )
    assert [type(one) for one in ended(chunk(tool_calls=[fragment]))] == [Usage, Finish]


@pytest.mark.parametrize("value", [b"{}", b"[]", b'{"text": "x"}'])
def test_a_chunk_of_very_many_values_is_none(value):
    body = b'{"choices": [{"delta": {"tool_calls": [%b], "content": [%b]}}]}'
    many = b",".join([value] * (1_000_000 // 2 // (len(value) + 1)))
    with pytest.raises(ProviderBroke, match="no chat completion"):
        read(body % (many, many))


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


def test_function_call_of_old_servers_is_a_tool_call():
    payload = chunk(function_call={"name": "table", "arguments": "{}"})
    assert ended(payload, b"[DONE]")[0] == ToolCall(id="made00000", name="table", arguments="{}")


def test_request_holds_messages_tools_and_parameters_but_no_foreign_model():
    call = ModelCall(
        model="m",
        messages=(
            ModelMessage(role=ModelRole.SYSTEM, text="s"),
            ModelMessage(
                role=ModelRole.ASSISTANT,
                text="",
                tool_calls=(ToolCall(id="1", name="t", arguments=""),),
            ),
            ModelMessage(role=ModelRole.TOOL, text="r", tool_call_id="1"),
        ),
        tools=(ToolSchema(name="t", description="d", parameters={"type": "object"}),),
        parameters={"temperature": 0.2, "model": "other", "stream": False, "n": 3},
    )
    assert json.loads(request_body(call, with_usage=True)) == {
        "temperature": 0.2,
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "t", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "content": "r", "tool_call_id": "1"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "t", "description": "d", "parameters": {"type": "object"}},
            }
        ],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert "stream_options" not in json.loads(request_body(call, with_usage=False))
    named = replace(call, user="ada", parameters={"user": "eve"})
    assert json.loads(request_body(named, with_usage=False))["user"] == "ada"


def test_images_are_parts_of_a_message_between_the_marks_of_data():
    image = ModelImage(name='a"b.png', url="data:image/png;base64,AAAA")
    messages = (
        ModelMessage(role=ModelRole.USER, text="What is it?", images=(image,)),
        ModelMessage(role=ModelRole.USER, text="", images=(image,)),
    )
    sent = json.loads(request_body(ModelCall(model="m", messages=messages), with_usage=False))
    parts = [
        {"type": "text", "text": '<data image="a\\"b.png">'},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "text", "text": "</data>"},
    ]
    assert sent["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "What is it?"}, *parts]},
        {"role": "user", "content": parts},
    ]


def test_request_takes_what_strict_json_does_not():
    call = ModelCall(
        model="m",
        messages=(ModelMessage(role=ModelRole.USER, text="\ud83d"),),
        parameters={"seed": 2**70},
    )
    assert json.loads(request_body(call, with_usage=False))["seed"] == 2**70


@pytest.mark.parametrize("line", [b"\n", b"\r\n", b": alive\n\n", b"id: 1\n", b"\n\r"])
@pytest.mark.usefixtures("_few_bytes")
def test_a_mebibyte_without_an_event_is_no_answer(line):
    lines = DataLines()
    block = line * (2 * 1024 // len(line))
    fed = 0
    with pytest.raises(ProviderBroke, match="1 MiB of blank lines or comments"):
        while fed < 2 * FEW_BYTES:
            lines.feed(block)
            fed += len(block)
    assert FEW_BYTES - len(block) < fed <= FEW_BYTES


@pytest.mark.parametrize("said", [b"data: x\n\n", b"data: x\n\n\n", b"data:\n"])
@pytest.mark.usefixtures("_few_bytes")
def test_signs_of_life_between_events_may_go_on(said):
    lines = DataLines()
    for _ in range(3):
        lines.feed(b"\n" * (FEW_BYTES - 1))
        lines.feed(said)


@pytest.mark.usefixtures("_few_bytes")
def test_an_event_before_a_mebibyte_of_nothing_is_handed_on():
    lines = DataLines()
    assert lines.feed(b"data: x\n\n" + b"\n" * FEW_BYTES) == [b"x"]
    with pytest.raises(ProviderBroke):
        lines.feed(b"\n" * (FEW_BYTES + 1))
