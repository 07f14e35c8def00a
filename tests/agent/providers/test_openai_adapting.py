"""A server that refuses a request is asked again as it wants to be asked, and the next time at once."""

import asyncio
from dataclasses import replace
import json

import pytest

from copilot_admin.agent.providers.openai_compatible import OpenAICompatible
from copilot_admin.agent.values.model_call import (
    ALIVE,
    Finish,
    ReasoningDelta,
    RunNote,
    TextDelta,
    ToolCall,
)
from copilot_admin.agent.values.spec import ToolCalling
from copilot_admin.errors import ProviderRefused
from tests.agent.llm.chunks import CALL, delta, joined, stop
from tests.agent.providers.openai_asking import deltas_of, make_spec
from tests.agent.providers.upstream import serving


def refusing(*refused, status=400, reply_with=None):
    """A server that refuses what one of the functions names a reason for."""

    async def handler(request, reply):
        reason = next(filter(None, (one(request.json) for one in refused)), None)
        if reason:
            await reply.start(status, type="application/json")
            await reply.send(json.dumps({"error": {"message": reason}}).encode())
        else:
            await reply.start()
            await reply.events(*(reply_with or [delta(content="Hi"), stop(), "[DONE]"]))
        await reply.end()

    return handler


def asked(handler, *, times=2, call=CALL, **options):
    """What is made of the answers, and the bodies that were sent."""

    async def run():
        async with serving(handler) as server:
            provider = OpenAICompatible(make_spec(f"{server.url}/v1", **options))
            answers = [await deltas_of(provider, read=server.read, call=call) for _ in range(times)]
            bodies = [request.json for request in server.requests]
            return [joined(one for one in found if one is not ALIVE) for found in answers], bodies

    return asyncio.run(run())


def no_temperature(body):
    return "temperature" in body and "Unsupported value: 'temperature' does not support 0.2."


def no_max_tokens(body):
    return "max_tokens" in body and (
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    )


def no_tools(body):
    return "tools" in body and "this model does not support tools"


def test_what_a_server_refuses_is_learned_for_its_model():
    call = replace(CALL, parameters={"temperature": 0.2, "max_tokens": 5})
    answers, bodies = asked(refusing(no_temperature, no_max_tokens), call=call)
    assert [answer[0] for answer in answers] == [TextDelta("Hi")] * 2
    notes = [[one.text for one in answer if isinstance(one, RunNote)] for answer in answers]
    assert notes == [["The provider rejected temperature. Sent without."], []]
    assert len(bodies) == 4
    assert [one.get("max_completion_tokens") for one in bodies] == [None, None, 5, 5]
    assert "temperature" not in bodies[-1]


def test_a_model_that_takes_no_tools_is_told_of_them_in_words():
    block = '```tool\n{"name": "table", "arguments": {"rows": [1]}}\n```'
    answers, bodies = asked(
        refusing(no_tools, reply_with=[delta(content=block), stop(), "[DONE]"]), times=1
    )
    (answer,) = answers
    assert answer[0] == ToolCall(id="text00001", name="table", arguments='{"rows": [1]}')
    assert answer[-1] == Finish("tool_calls")
    assert "You have tools." in bodies[-1]["messages"][0]["content"]


def test_a_builder_may_choose_the_convention_in_words():
    answers, bodies = asked(
        refusing(reply_with=[delta(content="```tool\nno JSON\n```"), stop()]),
        times=1,
        tool_calling=ToolCalling.TEXT,
    )
    assert "tools" not in bodies[0]
    assert answers[0][0].name == "unreadable-tool-block"


def test_a_refusal_that_stays_is_told_after_some_tries():
    with pytest.raises(ProviderRefused):
        asked(refusing(lambda body: "The field 'seed' is unknown, and so is 'top_k'."), times=1)


def test_options_of_a_provider_shape_its_requests():
    options = {"streams": False, "has_system_role": False, "merges_messages": True}
    answers, (body,) = asked(refusing(), times=1, **options)
    assert answers[0][0] == TextDelta("Hi")
    assert (body["stream"], "stream_options" in body) == (False, False)


@pytest.mark.parametrize(
    ("model", "is_known"),
    [("deepseek-r1:7b", True), ("Qwen/Qwen3-30B-A3B-Thinking-2507", True), ("small", False)],
)
def test_reasoning_that_is_only_closed_is_known_by_the_model_or_the_next_time(model, is_known):
    async def handler(request, reply):
        await reply.start()
        for piece in ("I weigh. ", "Yes.", "</think>\n\n", "Buy nothing."):
            await reply.events(delta(content=piece))
            await asyncio.sleep(0.06)
        await reply.events(stop(), "[DONE]")
        await reply.end()

    (first, second), _ = asked(handler, call=replace(CALL, model=model))
    apart = [ReasoningDelta("I weigh. Yes."), TextDelta("Buy nothing.")]
    assert (first[:2] == apart) is is_known
    assert "Buy nothing." in first[-3].text
    assert second[:2] == apart


def test_an_answer_of_a_thinking_model_without_tags_stays_the_answer():
    answers, _ = asked(refusing(), call=replace(CALL, model="qwq-32b"))
    assert [found[0] for found in answers] == [TextDelta("Hi")] * 2
