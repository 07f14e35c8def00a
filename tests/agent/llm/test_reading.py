"""Bodies and tool calls are read within bounds, in words too, and suggestions come last."""

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
from copilot_admin.agent.values.answer_request import StoredTurn
from copilot_admin.agent.values.model_call import (
    Finish,
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
    ToolCall,
    ToolSchema,
    Usage,
    UsageSource,
)
from copilot_admin.agent.values.spec import CitationMode, FixedStep, StepPlace
from copilot_admin.errors import LimitReached, ProviderBroke, ProviderRefused
from protocol.events import MessageChunk, PromptSuggestions, StatusUpdate
from protocol.models import Generation
from tests.agent.answer_requests import loading, make_query, make_request, make_spec, outputs_of
from tests.agent.llm.chunks import fragment, joined, parsed, stop, stream, words
from tests.agent.scripted import ScriptedProvider, broken, text
from tests.agent.scripted import Step as ScriptStep

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
    accumulator = ToolCallAccumulator(CallLimits(), model="m", offered=())
    for one in fragments:
        accumulator.add(one)
    return accumulator


def calls_of(accumulator):
    return [(call.id, call.name, call.arguments) for call in accumulator.calls()]


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


SPEC = make_spec(
    features=frozenset({"prompt-suggestions"}),
    citations=CitationMode.OFF,
    steps=(FixedStep(at=StepPlace.END, message="Done"),),
)
ON = {"prompt-suggestions": True}


def answered(*script, spec=SPEC, **query):
    query = {"workspace_options": ON, **query}
    with ScriptedProvider(script) as provider:
        ask = make_request(
            provider, spec=spec, query=make_query(**query), load_stored_turn=loading(StoredTurn())
        )
        return outputs_of(ask), provider


def test_suggestions_come_last_behind_the_end_steps():
    outputs, provider = answered(
        text("Rates rose."), text('Here:\n["Why?", " What  next? ", "Why?", 3, "", "x", "y"]')
    )
    assert outputs == [
        MessageChunk("Rates rose."),
        StatusUpdate(message="Done"),
        PromptSuggestions(("Why?", "What next?", "x")),
        Finish("stop"),
    ]
    *_, answer, wish = provider.calls[1].messages
    assert answer.text == "Rates rose."
    assert "JSON list" in wish.text
    assert provider.calls[1].tools == ()


def test_what_the_suggestions_cost_is_counted_and_half_characters_are_replaced():
    usage = Usage(input_tokens=3, output_tokens=2)
    script = ScriptStep((TextDelta(r'["Why \ud83d?"]'), usage, Finish("stop")))
    outputs, _ = answered(text("Rates rose."), script)
    assert usage in outputs
    assert PromptSuggestions(("Why \ufffd?",)) in outputs


@pytest.mark.parametrize(
    "second",
    [
        text("I have no idea."),
        text("[not JSON]"),
        text('["' + "x" * 201 + '"]'),
        broken(ProviderRefused("No.")),
    ],
)
def test_a_model_that_suggests_nothing_harms_no_answer(second):
    outputs, _ = answered(text("Rates rose."), second)
    assert outputs == [
        MessageChunk("Rates rose."),
        StatusUpdate(message="Done"),
        Finish("stop"),
    ]


@pytest.mark.parametrize(
    ("first", "changes"),
    [
        (text("Rates rose."), {"workspace_options": {}}),
        (text("Rates rose."), {"workspace_options": {"prompt-suggestions": "yes"}}),
        (text("Rates rose."), {"generation": Generation.TWO}),
        (text("Rates rose."), {"spec": make_spec(citations=CitationMode.OFF)}),
        (text("Rates r", reason=None), {}),
        (text(""), {}),
    ],
    ids=["switched off", "no switch", "older client", "not offered", "cut", "empty"],
)
def test_nobody_is_given_suggestions_who_does_not_want_them_or_has_no_answer(first, changes):
    outputs, provider = answered(first, **changes)
    assert len(provider.calls) == 1
    assert not any(isinstance(one, PromptSuggestions) for one in outputs)


def test_what_a_model_had_suggested_before_it_broke_is_counted():
    outputs, _ = answered(text("Rates rose."), broken(ProviderRefused("No."), '["Why?'))
    assert [type(one) for one in outputs] == [MessageChunk, StatusUpdate, Usage, Finish]
    assert (outputs[2].output_tokens, outputs[2].source) == (2, UsageSource.ESTIMATED)
