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


LINK = create_output("urls", "https://example.org")


@pytest.mark.parametrize(
    ("component", "content", "options", "expected"),
    [
        (Adds(), {"one": 2, "other": 3}, {}, "5"),
        (Adds(), 2, {}, "3"),  # the value of the first parameter
        (EchoTwo(), "hello", {}, "hello"),
        (Player(outputs=[]), "x", {}, ""),
        (Player(outputs=[LINK]), {}, {}, LINK.to_json()["content"]),
        (Player(outputs=[LINK]), {}, {"stream": True}, [LINK.to_json()["content"]]),
    ],
)
def test_run_takes_and_gives_a_message(component, content, options, expected):
    assert content_of(component, Message(content), **options) == expected


def test_a_stream_is_a_message_whose_content_is_its_pieces():
    async def collect() -> tuple[list[str], Any]:
        message: Any = await Spells().run(Message("hi"), stream=True)
        return [piece async for piece in message.content], message.token_usage

    pieces, usage = asyncio.run(collect())
    assert pieces == ["h", "i"]
    assert (usage["total_tokens"], usage["name"]) == (3, "small")
    assert asyncio.run(Spells()(Message("hi"))).content == "hi"


@pytest.mark.parametrize(("given", "used"), [(None, 0.9), (0, 0)])
def test_the_temperature_of_run_wins_over_that_of_the_caller(given, used):
    component = Spells()
    component.system = {"model_configs": {"temperature": 0.9, "top_p": 0.5}}
    content_of(component, Message("x"), temperature=given)
    assert Spells.configs == {"temperature": used, "top_p": 0.5}


def counted(*pieces: str, tokens: tuple[int, int]) -> Step:
    usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1])
    return Step((Alive(), *map(TextDelta, pieces), usage, Finish("stop")))


def test_a_client_asks_the_model_and_sums_its_tokens():
    async def ask(client: Any) -> list[str]:
        options = {"temperature": 0.0, "top_p": 0.0}
        questions = ("one", "two")
        return [piece for one in questions async for piece in client.ask(one, **options)]

    script = [counted("a", "b", tokens=(3, 2)), counted("c", tokens=(4, 1))]
    with ScriptedProvider(script) as provider:
        client = client_of(provider, temperature=0.5, seed=1)
        assert asyncio.run(ask(client)) == ["a", "b", "c"]
    counts = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    assert client.usage == {**counts, "name": "small"}
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
    arguments = {"query": "x", "language": "en"}

    class Free(SimilarQuestion):
        """As the example, with another argument."""

        manifests = (
            {"description": "", "parameters": {"properties": {key: {} for key in arguments}}},
        )

    async def collect(run: ComponentRun) -> list[Any]:
        return [output async for output in run.stream()]

    with ScriptedProvider([text("One?")]) as provider:
        run = ComponentRun(Free, arguments, {MODEL: client_of(provider)}, as_program=True)
        asyncio.run(collect(run))
    assert "query: x\nlanguage: en" in provider.calls[0].messages[0].text
    with pytest.raises(ValueError, match="run needs an event loop"):
        SimilarQuestion().run(Message("x"))
