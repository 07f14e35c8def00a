"""Bodies and tool calls are read within bounds, and tools in words by models without tool calling."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.llm import body_reader
from copilot_admin.agent.llm.body_reader import BodyReader
from copilot_admin.agent.llm.text_tool_calls import UNREADABLE, TextToolReader, in_plain_text
from copilot_admin.agent.llm.tool_calls import (
    MAX_ARGUMENT_BYTES,
    MAX_CALLS,
    CallLimits,
    ToolCallAccumulator,
)
from copilot_admin.agent.values.model_call import (
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
    ToolCall,
    ToolSchema,
)
from copilot_admin.errors import LimitReached, ProviderBroke
from tests.agent.llm.chunks import fragment, joined, parsed, stop, stream, words

TABLE = ToolSchema(name="table", description="Shows rows.", parameters={"type": "object"})
BLOCK = '```tool\n{"name": "table", "arguments": {"rows": [1]}}\n```'
CALLED = ToolCall(id="text00001", name="table", arguments='{"rows": [1]}')
USER = ModelMessage(role=ModelRole.USER, text="Show it.")


def taken_out(*pieces, whole=True):
    reader = TextToolReader((TABLE,), CallLimits(), is_convention=True)
    found = [one for piece in pieces for one in reader.feed(piece)]
    return joined([*found, *reader.end(is_whole=whole)])


@given(st.data())
def test_a_block_is_found_wherever_its_pieces_are_cut(data):
    whole = f"Here it is: {BLOCK} and `code` ``` too"
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)))))
    pieces = [whole[start:end] for start, end in pairwise([0, *cuts, len(whole)])]
    assert taken_out(*pieces) == [
        TextDelta("Here it is: "),
        CALLED,
        TextDelta(" and `code` ``` too"),
    ]


def test_only_what_may_begin_a_block_is_held_back():
    reader = TextToolReader((TABLE,), CallLimits(), is_convention=True)
    assert list(reader.feed("Rates rose. ``")) == [TextDelta("Rates rose. ")]
    assert list(reader.feed("`python ``")) == [TextDelta("```python ")]
    assert list(reader.flush_text()) == [TextDelta("``")]
    assert list(reader.end(is_whole=False)) == []


@pytest.mark.parametrize(
    "block",
    [
        *("nothing", "[]", "{}", '{"name": 1', "[" * 5000, '{"name": null}'),
        '{"name": ["table"], "arguments": {}}',
    ],
)
def test_a_block_that_cannot_be_read_is_a_call_that_can_be_explained(block):
    [found] = taken_out(f"```tool\n{block}\n```")
    assert (found.name, found.arguments) == (UNREADABLE, block)


def test_a_block_without_its_end_counts_only_if_the_answer_ended():
    cut = BLOCK.removesuffix("```")
    assert taken_out(cut) == [CALLED]
    assert taken_out(cut, whole=False) == [TextDelta(cut)]


def test_the_model_is_told_of_the_tools_in_words():
    plain = in_plain_text(ModelCall(model="m", messages=(USER,), tools=(TABLE,)))
    system, user = plain.messages
    assert (system.role, user, plain.tools) == (ModelRole.SYSTEM, USER, ())
    assert system.text.endswith('- table: Shows rows.\n  {"type": "object"}')
    prompt = ModelMessage(role=ModelRole.SYSTEM, text="Be brief.")
    both = in_plain_text(ModelCall(model="m", messages=(prompt, USER), tools=(TABLE,)))
    assert both.messages[0].text == f"Be brief.\n\n{system.text}"


def test_calls_and_results_of_the_past_are_words():
    said = ModelMessage(role=ModelRole.ASSISTANT, text="So:", tool_calls=(CALLED,))
    result = ModelMessage(role=ModelRole.TOOL, text="Shown.", tool_call_id=CALLED.id)
    foreign = ModelMessage(role=ModelRole.TOOL, text="?", tool_call_id="x")
    plain = in_plain_text(ModelCall(model="m", messages=(USER, said, result, foreign)))
    assert [(one.role, one.text) for one in plain.messages[1:]] == [
        (ModelRole.ASSISTANT, f"So:\n{BLOCK}"),
        (ModelRole.USER, "Result of table:\nShown."),
        (ModelRole.USER, "Result of a tool:\n?"),
    ]


def test_a_call_in_words_ends_the_answer_with_calls_even_where_the_model_went_on():
    *_, finish = parsed(stream(*words(BLOCK, " and on"), stop("length")), text_tools=True)
    assert finish == Finish("tool_calls")


def test_without_tools_nothing_is_taken_out():
    plain = ModelCall(model="m", messages=())
    assert parsed(stream(*words(BLOCK), stop()), call=plain)[0] == TextDelta(BLOCK)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BLOCK * (MAX_CALLS + 1), "more than 128 tools"),
        ("```tool\n" + "x" * (MAX_ARGUMENT_BYTES + 10), "more than 1 MB of arguments"),
    ],
)
def test_calls_in_words_have_the_limits_of_others(text, message):
    with pytest.raises(LimitReached, match=message):
        taken_out(text)


def accumulated(*fragments):
    accumulator = ToolCallAccumulator(CallLimits())
    for one in fragments:
        accumulator.add(one)
    return accumulator


def calls_of(accumulator):
    calls = accumulator.calls(offered=(), model="m", message={})
    return [(call.id, call.name, call.arguments) for call in calls]


@pytest.mark.parametrize("odd", [{}, {"function": 7}, fragment(None, "1", id="c")])
def test_fragments_without_a_name_are_no_call(odd):
    assert calls_of(accumulated(odd)) == []


def test_as_many_calls_as_a_request_may_offer_tools_are_taken_and_no_more():
    accumulator = accumulated(
        *(fragment("table", "{}", index=10**9 - at, id=f"c{at}") for at in range(MAX_CALLS))
    )
    assert len(calls_of(accumulator)) == MAX_CALLS
    with pytest.raises(LimitReached, match="more than 128 tools"):
        accumulator.add(fragment("table", "{}"))


@pytest.mark.parametrize("piece", ["x" * 1024, "é" * 512])
def test_a_megabyte_of_arguments_is_taken_and_no_more(piece):
    accumulator = accumulated(*(fragment("table", piece, index=at % 2) for at in range(1024)))
    assert sum(len(call[2]) for call in calls_of(accumulator)) == 1024 * len(piece)
    with pytest.raises(LimitReached, match="more than 1 MB of arguments"):
        accumulator.add(fragment(None, "x", index=0))


def texts_of(*blocks):
    reader = BodyReader()
    found = [event for block in blocks for event in reader.feed(block)]
    return [data for _, data in (*found, *reader.end())]


def test_the_first_byte_says_whether_it_is_one_document():
    for before in (b"", b"\xef\xbb\xbf", b" \r\n\n"):
        assert texts_of(before, b'{"a":\n\n', b"1}") == [b'{"a":\n\n1}']
        assert texts_of(before + b"data: {}\n\n") == [b"{}"]
    assert texts_of(b" \n") == []


@pytest.mark.parametrize("block", [b"data: " + b"x" * 65, b"data: x\n" * 10, b"{" + b" " * 64])
def test_a_text_that_is_too_large_ends_the_answer(block, monkeypatch):
    monkeypatch.setattr(body_reader, "MAX_EVENT_BYTES", 64)
    with pytest.raises(ProviderBroke, match="more than 8 MiB"):
        texts_of(block)
    assert texts_of(b"data: " + b"x" * 58, b"\n\n") == [b"x" * 58]
