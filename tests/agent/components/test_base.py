"""What every component has from its base, and the inputs that this server passes."""

import asyncio
from collections.abc import AsyncGenerator, Generator
import json
from typing import Any, ClassVar

import pytest

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import (
    DOCUMENTS,
    MODEL,
    DocumentOrigin,
    ModelClient,
    SourceDocument,
    documents_in,
    model_in,
)
from copilot_admin.agent.llm.retries import Pace
from copilot_admin.agent.values.model_call import (
    Alive,
    Finish,
    ModelMessage,
    ModelRole,
    TextDelta,
    Usage,
)
from copilot_admin.agent.values.spec import Timeouts
from copilot_admin.errors import ProviderRefused
from protocol.components import ComponentOutput, Message, create_output, static_findings
from tests.agent.components.sample_components import Echo, EchoTwo, Player
from tests.agent.scripted import ScriptedProvider, Step, broken, text


class Adds(Component):
    """Adds two numbers.

    And says more to programmers.
    """

    name = "adds"

    def tool_eval(
        self, one: int, other: int = 1, **kwargs: Any
    ) -> Generator[ComponentOutput, None, None]:
        """
        Args:
            one: A number.
            other: One more.
        """
        yield self.create_output("text", f"{one + other}", name="sum")
        if kwargs:
            yield self.create_output("json", {"data": sorted(kwargs)})


def run(component: Component, message: Message) -> Any:
    return asyncio.run(component.run(message)).content


def test_run_takes_parameters_by_name_or_the_value_of_the_only_one():
    assert run(Adds(), Message({"one": 2, "other": 3})) == "5"
    assert run(Adds(), Message(2)) == "3"
    assert run(EchoTwo(), Message("hello")) == "hello"


def test_a_message_for_a_component_without_parameters_is_passed_over():
    assert run(Player(outputs=[]), Message("x")) == ""


def test_where_no_parameter_is_required_the_first_takes_the_message():
    class Optional(Component):
        name = "optional"

        def tool_eval(
            self, text: str = "", **kwargs: Any
        ) -> Generator[ComponentOutput, None, None]:
            """Says it.

            Args:
                text: What.
            """
            yield create_output("text", text)

    assert run(Optional(), Message("x")) == "x"


def test_what_is_more_than_text_is_given_as_its_elements():
    content = run(Adds(), Message({"one": 2, "more": 1}))
    assert [(one["type"], one["name"]) for one in content] == [("text", "sum"), ("json", "")]


def test_system_inputs_reach_tool_eval_through_run():
    adds = Adds()
    adds.system = {"_sys_uid": "1"}
    assert run(adds, Message(2))[1]["text"] == {"data": '["_sys_uid"]'}


def test_calling_and_batches_are_the_same_as_run():
    async def answers() -> list[Any]:
        echo = Echo()
        return [await echo(Message("a")), *await echo.batch(Message("b"), Message("c"))]

    assert [message.content for message in asyncio.run(answers())] == ["a", "b", "c"]


def test_the_whole_result_has_each_element_as_it_came():
    output = asyncio.run(EchoTwo().non_stream_tool_eval(query="hello"))
    assert [one.text.model_dump()["info"] for one in output.content] == ["he", "llo"]


def test_a_component_is_described_by_its_manifest():
    assert Adds.description() == "Adds two numbers."
    assert Adds.summary() == "Adds two numbers."
    assert Adds.tool_name() == ["adds"]
    assert [json.loads(one) for one in Adds.tool_desc()] == [dict(Adds.manifests[0])]
    assert Adds.parameters()["required"] == ["one"]


def test_without_words_on_the_class_the_manifest_says_what_it_does():
    class Silent(Component):
        name = "silent"

        def tool_eval(self, **kwargs: Any) -> Generator[ComponentOutput, None, None]:
            """Says nothing.

            Really.
            """
            yield create_output("text", "")

    assert (Silent.documentation(), Silent.summary()) == ("", "Says nothing.")


def test_a_version_is_described_by_what_it_is_a_version_of():
    assert type("Later", (Echo,), {"version": "v9"}).documentation() == "Says a text again."


def test_a_component_that_nothing_describes_breaks_a_rule():
    class Mute(Component):
        name = "mute"

        def tool_eval(self, **kwargs: Any) -> Generator[ComponentOutput, None, None]:
            yield create_output("text", "")

    (finding,) = static_findings(Mute)
    assert finding.detail == "the manifest lacks description."


def test_a_manifest_written_by_hand_stays():
    class ByHand(Echo):
        manifests = ({"name": "by-hand"},)
        tool_eval = Echo.tool_eval

    assert ByHand.tool_name() == ["by-hand"]


def test_a_component_without_tool_eval_says_what_it_lacks():
    with pytest.raises(NotImplementedError, match="A component writes tool_eval"):
        asyncio.run(Component().non_stream_tool_eval())


def door_to(provider: ScriptedProvider, **parameters: Any) -> ModelClient:
    return ModelClient(
        provider, model="small", timeouts=Timeouts(), parameters=parameters, pace=Pace()
    )


def asked(door: ModelClient, *questions: str, **more: Any) -> list[str]:
    async def answers() -> list[str]:
        return [piece for question in questions async for piece in door.ask(question, **more)]

    return asyncio.run(answers())


def counted(*pieces: str, tokens: tuple[int, int]) -> Step:
    usage = Usage(input_tokens=tokens[0], output_tokens=tokens[1])
    return Step((Alive(), *map(TextDelta, pieces), usage, Finish("stop")))


def test_a_door_asks_the_model_and_sums_its_tokens():
    with ScriptedProvider(
        [counted("a", "b", tokens=(3, 2)), counted("c", tokens=(4, 1))]
    ) as provider:
        door = door_to(provider, temperature=0.5, seed=1)
        assert door.usage == {}
        assert asked(door, "one", "two", top_p=0.0) == ["a", "b", "c"]
    assert door.usage == {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "total_tokens": 10,
        "name": "small",
    }
    call = provider.calls[0]
    assert call.messages == (ModelMessage(role=ModelRole.USER, text="one"),)
    assert (call.model, call.parameters) == (
        "small",
        {"temperature": 0.5, "seed": 1, "top_p": 0.0},
    )


def test_a_component_may_choose_its_own_temperature():
    with ScriptedProvider([text("x")]) as provider:
        asked(door_to(provider, temperature=0.5), "one", temperature=0.0)
    assert provider.calls[0].parameters == {"temperature": 0.0}


def test_a_door_passes_on_why_a_model_cannot_be_asked():
    with ScriptedProvider([broken(ProviderRefused("No."))]) as provider:
        door = door_to(provider)
        with pytest.raises(ProviderRefused, match="No"):
            asked(door, "one")


def test_inputs_are_taken_by_name_or_missing():
    document = SourceDocument("Report", DocumentOrigin.FILE, (("page 1", "words"),))
    door = door_to(ScriptedProvider([]))
    assert documents_in({DOCUMENTS: (document,)}) == (document,)
    assert documents_in({}) == ()
    assert model_in({MODEL: door}) is door
    for none in ({}, {MODEL: "model"}):
        with pytest.raises(ValueError, match="There is no model to ask"):
            model_in(none)


class Configured(Component):
    """Says a text in pieces, and with which temperature a model would be asked."""

    name = "configured"
    seen: ClassVar[dict[str, Any]] = {}

    async def tool_eval(self, query: str, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Says a text in pieces.

        Args:
            query: What to say.
        """
        Configured.seen = dict(kwargs.get("model_configs", {}))
        for letter in query:
            yield create_output("text", letter)
        yield create_output("text", "", usage={"total_tokens": 3, "name": "small"})


class TestRunAsTheSourceHasIt:
    """`run(message, stream=False, temperature=...)` of the component contract."""

    def test_a_stream_is_a_message_whose_content_are_the_pieces(self):
        async def pieces() -> tuple[list[str], Any]:
            message: Any = await Configured().run(Message("hi"), stream=True)
            listed = [piece async for piece in message.content]
            return listed, message.token_usage

        listed, usage = asyncio.run(pieces())
        assert listed == ["h", "i"]
        assert (usage["total_tokens"], usage["name"]) == (3, "small")
        whole = run(Configured(), Message("hi"))
        assert whole == "".join(listed)

    def test_what_is_no_text_streams_as_its_items(self):
        class Linked(Component):
            """Gives a link."""

            name = "linked"

            async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
                """Gives a link."""
                yield create_output("urls", "https://example.org")

        async def pieces() -> list[Any]:
            message = await Linked().run(Message({}), stream=True)
            return [piece async for piece in message.content]

        output = create_output("urls", "https://example.org")
        assert asyncio.run(pieces()) == [output.to_json()["content"]]

    @pytest.mark.parametrize(("said", "asked"), [(None, 0.9), (0.2, 0.2), (0, 0)])
    def test_a_temperature_wins_over_that_of_the_caller(self, said, asked):
        component = Configured()
        component.system = {"model_configs": {"temperature": 0.9, "top_p": 0.5}}
        asyncio.run(component.run(Message("x"), stream=False, temperature=said))
        assert Configured.seen == {"temperature": asked, "top_p": 0.5}

    def test_a_component_without_kwargs_in_its_init_gets_what_it_takes(self):
        class Old(Configured):
            """As the contract's own example is made."""

            def __init__(self, model: str = "small") -> None:
                super().__init__()
                self.model = model

        made = Old.made({"model": "large", "other": 1})
        assert (made.model, made.config) == ("large", {"model": "large", "other": 1})
        assert Configured.made({"other": 1}).config == {"other": 1}
