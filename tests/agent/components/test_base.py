"""Base classes of components, and the model that components ask."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from typing import Any, ClassVar

import pytest

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import MODEL
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.values.model_call import (
    Alive,
    Finish,
    ModelMessage,
    ModelRole,
    TextDelta,
    Usage,
)
from protocol.components import ComponentOutput, Message, create_output
from tests.agent.components.sample_components import EchoTwo, Player, client_of
from tests.agent.components.source_example import SimilarQuestion
from tests.agent.scripted import ScriptedProvider, Step, stalled, text
from tests.polling import eventually


class Adds(Component):
    """Adds two numbers.

    And says more to programmers.
    """

    name = "adds"

    def tool_eval(
        self, one: int = 1, other: int = 1, **kwargs: Any
    ) -> Generator[ComponentOutput, None, None]:
        """
        Args:
            one: A number.
            other: One more.
        """
        yield self.create_output("text", f"{one + other}", name="sum")
        if kwargs:
            yield self.create_output("json", {"data": sorted(kwargs)})


class Spells(Component):
    """Yields a text letter by letter, then the tokens."""

    name = "spells"
    configs: ClassVar[dict[str, Any]] = {}

    async def tool_eval(self, query: str, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Yields a text letter by letter.

        Args:
            query: The text.
        """
        Spells.configs = dict(kwargs.get("model_configs", {}))
        for letter in query:
            yield create_output("text", letter)
        yield create_output("text", "", usage={"total_tokens": 3, "name": "small"})


def content_of(component: Component, message: Message, **options: Any) -> Any:
    async def collect() -> Any:
        content = (await component.run(message, **options)).content
        if isinstance(content, AsyncGenerator):
            return [piece async for piece in content]
        return content

    return asyncio.run(collect())


@pytest.mark.parametrize(
    ("component", "message", "content"),
    [
        (Adds(), Message({"one": 2, "other": 3}), "5"),
        (Adds(), Message(2), "3"),
        (EchoTwo(), Message("hello"), "hello"),
        (Player(outputs=[]), Message("x"), ""),
    ],
)
def test_run_takes_parameters_by_name_or_the_value_of_the_first(component, message, content):
    assert content_of(component, message) == content


def test_a_result_that_is_not_only_text_is_given_as_its_elements():
    adds = Adds()
    adds.system = {"_sys_uid": "1"}
    content = content_of(adds, Message(2))
    assert [(one["type"], one["name"]) for one in content] == [("text", "sum"), ("json", "")]
    assert content[1]["text"] == {"data": '["_sys_uid"]'}
    link = create_output("urls", "https://example.org")
    pieces = content_of(Player(outputs=[link]), Message({}), stream=True)
    assert pieces == [link.to_json()["content"]]


def test_a_stream_is_a_message_whose_content_is_its_pieces():
    async def collect() -> tuple[list[str], Any]:
        message: Any = await Spells().run(Message("hi"), stream=True)
        return [piece async for piece in message.content], message.token_usage

    pieces, usage = asyncio.run(collect())
    assert pieces == ["h", "i"]
    assert (usage["total_tokens"], usage["name"]) == (3, "small")
    assert asyncio.run(Spells()(Message("hi"))).content == "hi"


@pytest.mark.parametrize(("given", "used"), [(None, 0.9), (0.2, 0.2), (0, 0)])
def test_the_temperature_of_run_wins_over_that_of_the_caller(given, used):
    component = Spells()
    component.system = {"model_configs": {"temperature": 0.9, "top_p": 0.5}}
    content_of(component, Message("x"), temperature=given)
    assert Spells.configs == {"temperature": used, "top_p": 0.5}


def counted(*pieces: str, tokens: tuple[int, int]) -> Step:
    usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1])
    return Step((Alive(), *map(TextDelta, pieces), usage, Finish("stop")))


def ask(client: Any, *questions: str, **options: Any) -> list[str]:
    async def collect() -> list[str]:
        return [piece for question in questions async for piece in client.ask(question, **options)]

    return asyncio.run(collect())


def test_a_client_asks_the_model_and_sums_its_tokens():
    script = [counted("a", "b", tokens=(3, 2)), counted("c", tokens=(4, 1))]
    with ScriptedProvider(script) as provider:
        client = client_of(provider, temperature=0.5, seed=1)
        assert client.usage == {}
        assert ask(client, "one", "two", temperature=0.0, top_p=0.0) == ["a", "b", "c"]
    assert client.usage == {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "total_tokens": 10,
        "name": "small",
    }
    call = provider.calls[0]
    assert call.messages == (ModelMessage(role=ModelRole.USER, text="one"),)
    assert call.parameters == {"temperature": 0.0, "seed": 1, "top_p": 0.0}


def test_a_caller_who_leaves_frees_the_thread_that_waits_for_the_model():
    components: list[Any] = []

    class Watched(SimilarQuestion):
        """As the example, and remembers itself."""

        def tool_eval(self, query: str, **kwargs: Any) -> Any:
            components.append(self)
            yield from super().tool_eval(query, **kwargs)

    async def leave() -> None:
        provider = ScriptedProvider([stalled("O")])
        run = ComponentRun(Watched, {"query": "x"}, {MODEL: client_of(provider)})
        async with aclosing(run.stream()) as outputs:
            task = asyncio.ensure_future(anext(outputs))
            assert await asyncio.to_thread(
                eventually, lambda: components and components[0]._waiting
            )
            task.cancel()
            await asyncio.wait({task})
        assert await asyncio.to_thread(eventually, components[0]._waiting.cancelled)

    asyncio.run(leave())


def test_run_of_a_completion_names_the_values_of_a_message():
    with ScriptedProvider([text("One?")]) as provider:
        system = {MODEL: client_of(provider)}
        arguments = {"query": "x", "language": "en"}

        class Free(SimilarQuestion):
            """As the example, with another argument."""

            manifests = (
                {"description": "", "parameters": {"properties": {key: {} for key in arguments}}},
            )

        run = ComponentRun(Free, arguments, system, as_program=True)

        async def collect() -> list[Any]:
            return [output async for output in run.stream()]

        asyncio.run(collect())
    assert "query: x\nlanguage: en" in provider.calls[0].messages[0].text
    with pytest.raises(ValueError, match="run needs an event loop"):
        SimilarQuestion().run(Message("x"))
