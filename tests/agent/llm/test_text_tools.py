"""Models without tool calling: tools in words, and calls taken out of words."""

import asyncio
from contextlib import aclosing
from itertools import pairwise
import json

from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.agent.llm.text_tools import UNREADABLE, TextTools, ToolBlocks, in_plain_text
from copilot_admin.agent.llm.tool_call_fragments import MOST_ARGUMENT_BYTES, MOST_CALLS
from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.model_call import (
    ALIVE,
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
    ToolCall,
    ToolSchema,
    Usage,
)
from copilot_admin.agent.values.spec import ProviderSpec, ToolCalling
from copilot_admin.errors import LimitReached, ProviderBroke
from tests.agent.scripted import ScriptedProvider, Step, broken, text

TABLE = ToolSchema(name="table", description="Shows rows.", parameters={"type": "object"})
BLOCK = '```tool\n{"name": "table", "arguments": {"rows": [1]}}\n```'
CALLED = ToolCall(id="text00001", name="table", arguments='{"rows": [1]}')
USER = ModelMessage(role=ModelRole.USER, text="Show it.")


def taken_out(*pieces, whole=True):
    blocks = ToolBlocks()
    found = [one for piece in pieces for one in blocks.feed(piece)]
    return joined([*found, *blocks.end(whole=whole)])


def joined(deltas):
    found = []
    for delta in deltas:
        if isinstance(delta, TextDelta) and found and isinstance(found[-1], TextDelta):
            found[-1] = TextDelta(found[-1].text + delta.text)
        else:
            found.append(delta)
    return found


def streamed(*script, call=None):
    provider = ScriptedProvider(script)

    async def run():
        wrapped = TextTools(provider)
        async with aclosing(
            wrapped.stream(call or ModelCall(model="m", messages=(USER,), tools=(TABLE,)))
        ) as deltas:
            return [delta async for delta in deltas]

    return asyncio.run(run()), provider


@given(st.data())
def test_a_block_is_found_wherever_its_pieces_are_cut(data):
    whole = f"Here it is: {BLOCK} and `code` ``` too"
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)))))
    borders = [0, *cuts, len(whole)]
    pieces = [whole[start:end] for start, end in pairwise(borders)]
    assert taken_out(*pieces) == [
        TextDelta("Here it is: "),
        CALLED,
        TextDelta(" and `code` ``` too"),
    ]


@given(st.lists(st.text("`to l\n", max_size=8)))
def test_words_without_a_block_come_out_as_they_went_in(pieces):
    whole = "".join(pieces)
    if "```tool" not in whole:
        assert taken_out(*pieces) == joined([TextDelta(whole)] if whole else [])


def test_only_what_may_begin_a_block_is_held_back():
    blocks = ToolBlocks()
    assert list(blocks.feed("Rates rose. ``")) == [TextDelta("Rates rose. ")]
    assert list(blocks.feed("`python")) == [TextDelta("```python")]


def test_several_blocks_are_several_calls():
    assert [one.id for one in taken_out(BLOCK, BLOCK)] == ["text00001", "text00002"]


@pytest.mark.parametrize("block", ["nothing", "[]", "{}", '{"name": 1', "[" * 5000])
def test_a_block_that_cannot_be_read_is_a_call_that_can_be_explained(block):
    [found] = taken_out(f"```tool\n{block}\n```")
    assert (found.name, found.arguments) == (UNREADABLE, block)


def test_arguments_may_be_left_out_or_be_text():
    assert taken_out('```tool {"name": "a"}```')[0].arguments == "{}"
    assert taken_out('```tool {"name": "a", "arguments": "{}"}```')[0].arguments == "{}"
    for none in ("null", "{}"):
        assert taken_out(f'```tool {{"name": "a", "arguments": {none}}}```')[0].arguments == "{}"


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
    assert len(both.messages) == 2


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


def test_a_call_in_words_is_a_call_like_any_other():
    usage = Usage(input_tokens=1)
    step = Step(
        (TextDelta("```tool"), TextDelta(BLOCK.removeprefix("```tool")), usage, Finish("stop"))
    )
    deltas, provider = streamed(step)
    assert deltas == [ALIVE, CALLED, usage, Finish("tool_calls")]
    assert provider.calls[0].tools == ()
    unfinished, _ = streamed(text(BLOCK.removesuffix("```")))
    assert unfinished == [ALIVE, CALLED, Finish("tool_calls")]


def test_an_answer_in_words_stays_one():
    assert streamed(text("Rates ", "rose."))[0] == [
        TextDelta("Rates "),
        TextDelta("rose."),
        Finish("stop"),
    ]


def test_it_is_chosen_for_a_provider():
    spec = ProviderSpec(name="r", kind="rehearsal", tool_calling=ToolCalling.TEXT)
    provider = make_provider(spec)
    assert isinstance(provider, TextTools)
    assert asyncio.run(provider.models()) == ("rehearsal",)
    assert json.loads(CALLED.arguments) == {"rows": [1]}


def until_error(*script):
    """What came before the error, and the error."""

    async def run():
        seen = []
        call = ModelCall(model="m", messages=(USER,), tools=(TABLE,))
        with pytest.raises((ProviderBroke, LimitReached)) as caught:
            async for delta in TextTools(ScriptedProvider(script)).stream(call):
                seen.append(delta)
        return joined(seen), caught.value

    return asyncio.run(run())


def test_words_that_are_held_back_are_said_before_an_error():
    seen, _ = until_error(broken(ProviderBroke("No."), "Use ``"))
    assert seen == [TextDelta("Use ``")]


def test_half_a_block_is_not_shown_before_an_error():
    seen, _ = until_error(broken(ProviderBroke("No."), 'Wait. ```tool\n{"name"'))
    assert seen == [TextDelta("Wait. ")]


def test_more_blocks_than_calls_are_allowed_end_the_answer():
    seen, error = until_error(text(BLOCK * (MOST_CALLS + 1)))
    assert [type(one) for one in seen] == [ToolCall] * MOST_CALLS
    assert "more than 128 tools" in error.public


def test_a_block_of_too_many_values_ends_the_answer():
    rows = "[" + "0," * 100_000 + "0]"
    seen, error = until_error(text(f'```tool\n{{"name": "table", "arguments": {rows}}}\n```'))
    assert [one for one in seen if one is not ALIVE] == []
    assert "more than 100,000 values" in error.public


@pytest.mark.parametrize("pieces", [1, 64])
def test_block_without_end_ends_the_answer_at_a_megabyte(pieces):
    size = MOST_ARGUMENT_BYTES // pieces
    seen, error = until_error(text("```tool\n", *["x" * size] * pieces))
    assert [one for one in seen if one is not ALIVE] == []
    assert "more than 1 MB of arguments" in error.public


@pytest.mark.parametrize(
    "block",
    [
        '{"name": ["table"], "arguments": {}}',
        '{"name": null}',
        '{"name": "t", "arguments": ' + "[" * 990 + "]" * 990 + "}",
    ],
)
def test_block_that_names_no_tool_or_goes_too_deep_is_told_to_be_unreadable(block):
    [called] = taken_out(f"```tool\n{block}\n```")
    assert (called.name, called.arguments) == (UNREADABLE, block)


def test_endless_name_in_a_block_is_cut():
    [called] = taken_out('```tool\n{"name": "' + "n" * 1000 + '"}\n```')
    assert called.name == "n" * 200
