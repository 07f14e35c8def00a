"""Traces of components: rule R3 of the contract, `run` and `tool_eval` carry their decorators."""

import asyncio
from collections.abc import AsyncGenerator, Generator
import inspect
import logging
from typing import Any

import pytest

from copilot_admin.agent.components.base import (
    Component,
    components_run_stream_trace,
    components_run_trace,
)
from copilot_admin.agent.components.registry import registry
from protocol.components import ComponentOutput, Message, create_output
from tests.agent.components.sample_components import Echo, EchoTwo


class Written(Component):
    """As the contract writes components: with both decorators."""

    name = "written"

    @components_run_trace
    def run(self, message: Message) -> Any:  # type: ignore[override]  # takes less
        """Says the message again."""
        return message

    @components_run_stream_trace
    def tool_eval(self, query: str, **kwargs: Any) -> Generator[ComponentOutput, None, None]:
        """Says a text, and breaks.

        Args:
            query: What to say.
        """
        yield create_output("text", query)
        raise KeyError(query)


class NoGenerator(Component):
    """Forgets to yield."""

    name = "no_generator"

    def tool_eval(self, **kwargs: Any) -> Any:
        """Gives a word."""
        return "word"


@pytest.fixture
def traces(caplog: pytest.LogCaptureFixture) -> Any:
    caplog.set_level(logging.DEBUG, logger=components_run_trace.__module__)

    def found() -> list[tuple[Any, ...]]:
        facts = [record.__dict__["trace"] for record in caplog.records]
        assert all(0 <= one.pop("ms") < 60_000 for one in facts)
        return [tuple(one.values()) for one in facts]

    return found


async def _all(outputs: AsyncGenerator[ComponentOutput, None]) -> int:
    return len([output async for output in outputs])


def test_a_call_is_traced_async_or_not(traces):
    assert asyncio.run(_all(Echo().stream(query="hello"))) == 1
    assert asyncio.run(_all(EchoTwo().stream(query="hello"))) == 2
    assert traces() == [
        ("echo", "v1", "tool_eval", 1, ""),
        ("echo", "v2", "tool_eval", 2, ""),
    ]


def test_run_is_traced_around_its_tool_eval(traces, caplog):
    assert asyncio.run(Echo().run(Message("secret"))).content == "secret"
    assert traces() == [("echo", "v1", "tool_eval", 1, ""), ("echo", "v1", "run", 1, "")]
    assert "secret" not in caplog.text
    assert "traced component=echo version=v1 action=run outputs=1 ms=" in caplog.text


def test_who_writes_the_decorators_gets_one_trace_and_the_class_of_errors(traces):
    assert asyncio.run(Written().run(Message("x"))).content == "x"
    outputs = Written().tool_eval("x")
    assert next(outputs).content[0].text.model_dump() == {"info": "x"}
    with pytest.raises(KeyError):
        next(outputs)
    assert traces() == [
        ("written", "v1", "run", 1, ""),
        ("written", "v1", "tool_eval", 1, "KeyError"),
    ]


def test_a_stream_that_is_left_is_traced_when_it_is_closed(traces):
    outputs = EchoTwo().tool_eval("hello")
    next(outputs)
    assert traces() == []
    outputs.close()
    assert traces() == [("echo", "v2", "tool_eval", 1, "GeneratorExit")]


def test_a_wrong_call_is_still_an_error_of_the_call(traces):
    with pytest.raises(TypeError, match="query"):
        Echo().tool_eval()
    assert NoGenerator().tool_eval() == "word"
    assert traces() == []


@pytest.mark.parametrize("component", registry().all(), ids=lambda one: one.name)
def test_every_component_is_traced_and_its_signature_stays_visible(component):
    assert "kwargs" in inspect.signature(component.tool_eval).parameters
    assert components_run_stream_trace(component.tool_eval) is component.tool_eval
    assert components_run_trace(component.run) is component.run


def test_a_manifest_is_the_inner_part_of_a_tool_of_an_api():
    assert Echo.as_openai_tools() == [{"type": "function", "function": Echo.manifests[0]}]
    with pytest.raises(ValueError, match="Component has no manifest"):
        Component.as_openai_tools()


def test_the_base_alone_does_nothing():
    with pytest.raises(NotImplementedError, match="A component writes tool_eval"):
        Component().tool_eval(query="x")
    with pytest.raises(NotImplementedError, match="A component writes tool_eval"):
        asyncio.run(Component().run(Message("x")))
