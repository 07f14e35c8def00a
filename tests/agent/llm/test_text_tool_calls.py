"""Models without tool calling: tools in words, and calls taken out of words."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.llm.text_tool_calls import UNREADABLE, TextToolReader, in_plain_text
from copilot_admin.agent.llm.tool_calls import MAX_ARGUMENT_BYTES, MAX_CALLS, CallLimits
from copilot_admin.agent.values.model_call import (
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
    ToolCall,
    ToolSchema,
)
from copilot_admin.errors import LimitReached
from tests.agent.llm.chunks import joined, parsed, stop, stream, words

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
