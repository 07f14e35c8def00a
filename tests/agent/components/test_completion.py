"""Components that a model carries out by their description: how they wait, stop and refuse."""

import asyncio
from contextlib import aclosing
from typing import Any

import pytest

from copilot_admin.agent.components.base import CompletionBaseComponent
from copilot_admin.agent.components.inputs import MODEL, ModelClient
from copilot_admin.agent.components.registry import registry
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.agent.values.model_call import Alive, Finish, TextDelta
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.errors import ComponentFailed, ProviderRefused
from protocol.components import Message
from tests.agent.components.source_example import SimilarQuestion, SimilarQuestionWithRun
from tests.agent.scripted import ScriptedProvider, Step, broken, stalled
from tests.polling import eventually

SAID = Step((Alive(), TextDelta("One?"), Finish("stop")))


def door(*steps: Step) -> ModelClient:
    provider = ScriptedProvider(steps)
    return ModelClient(provider, model="m", timeouts=Timeouts(), parameters={}, pace=Pace())


async def whole(component: type[Any], *steps: Step) -> list[str]:
    run = ComponentRun(component, {"query": "x"}, system={MODEL: door(*steps)})
    async with aclosing(run.stream()) as outputs:
        return [output.content[0].text.model_dump()["info"] async for output in outputs]


def test_the_base_is_no_component_of_the_server():
    assert CompletionBaseComponent not in registry().all()
    assert registry().faults == []


@pytest.mark.parametrize("component", [SimilarQuestion, SimilarQuestionWithRun])
def test_a_plain_tool_eval_waits_for_the_model_in_its_thread(component):
    assert asyncio.run(whole(component, SAID)) == ["One?"]


def test_a_model_that_refuses_is_said_to():
    with pytest.raises(ComponentFailed, match="could not ask its model"):
        asyncio.run(whole(SimilarQuestion, broken(ProviderRefused("No."))))


def test_who_leaves_frees_the_thread_that_waits_for_the_model():
    asked: list[Any] = []

    class Watched(SimilarQuestion):
        """As the example, and tells how its question ended."""

        def tool_eval(self, query: str, **kwargs: Any) -> Any:
            asked.append(self)
            yield from super().tool_eval(query, **kwargs)

    async def leaving() -> None:
        run = ComponentRun(Watched, {"query": "x"}, system={MODEL: door(stalled("O"))})
        task = asyncio.create_task(anext(run.stream()))
        assert await asyncio.to_thread(eventually, lambda: asked and asked[0]._asked)
        (waiting,) = asked[0]._asked
        task.cancel()
        await asyncio.wait({task})
        assert await asyncio.to_thread(eventually, waiting.cancelled)

    asyncio.run(leaving())


def test_values_are_told_with_their_names():
    async def prompt() -> str:
        provider = ScriptedProvider((SAID,))
        model = ModelClient(provider, model="m", timeouts=Timeouts(), parameters={}, pace=Pace())
        component = SimilarQuestion()
        component.system = {MODEL: model}
        await component.run(Message({"query": "x", "language": "en"}))  # type: ignore[misc]  # in a loop
        return provider.calls[0].messages[0].text

    assert "query: x\nlanguage: en" in asyncio.run(prompt())
