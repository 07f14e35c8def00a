"""How a chat completion stream ended, and how many tokens it took."""

import json

import pytest

from copilot_admin.agent.llm.token_usage import truncation
from copilot_admin.agent.values.model_call import Finish, Usage, UsageSource
from copilot_admin.errors import ProviderBroke
from tests.agent.llm.stream_chunks import chunk, ended, finish


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
