"""Components for tests: each gives what a test is about."""

from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest

from copilot_admin.agent import server_tools
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.inputs import ModelClient, model_in
from copilot_admin.agent.components.registry import Registry
from copilot_admin.agent.values.spec import Timeouts
from protocol.components import ComponentOutput, create_output
from tests.agent.scripted import ScriptedProvider


class Echo(Component):
    """Says a text again."""

    name = "echo"
    samples = ({"query": "hello"},)

    async def tool_eval(self, query: str, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Says a text again.

        Args:
            query: What to say.
        """
        yield create_output("text", query)


class EchoTwo(Component):
    """Says a text again, in two pieces."""

    name = "echo"
    version = "v2"
    samples = ({"query": "hello"},)

    def tool_eval(self, query: str, **kwargs: Any) -> Generator[ComponentOutput, None, None]:
        """Says a text again, in two pieces.

        Args:
            query: What to say.
        """
        middle = len(query) // 2
        yield create_output("text", query[:middle])
        yield create_output("text", query[middle:])


class Player(Component):
    """Gives what the test put into its configuration, and raises what it finds there."""

    name = "player"
    samples = ({},)

    async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Plays what was prepared."""
        for output in self.config["outputs"]:
            if isinstance(output, Exception):
                raise output
            yield output


class Asker(Component):
    """Asks the copilot's model."""

    name = "asker"
    samples = ({"query": "hello"},)

    async def tool_eval(self, query: str, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Asks the model.

        Args:
            query: What to ask.
        """
        door = model_in(kwargs)
        async for piece in door.ask(query):
            yield create_output("text", piece, visible_scope="llm")
        yield create_output("text", "", visible_scope="llm", usage=door.usage)


class Witness(Component):
    """Says which system inputs came."""

    name = "witness"
    samples = ({},)

    async def tool_eval(self, **kwargs: Any) -> AsyncGenerator[ComponentOutput, None]:
        """Says what came."""
        self.config["seen"].update(kwargs)
        yield create_output("text", "seen", visible_scope="llm")


def client_of(provider: ScriptedProvider, **parameters: Any) -> ModelClient:
    """Return a client of a scripted model."""
    return ModelClient(provider=provider, model="small", timeouts=Timeouts(), parameters=parameters)


ALL = (Echo, EchoTwo, Player, Asker, Witness)


@pytest.fixture
def sample_components(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """These components, and no others, for copilots to call."""
    registry = Registry(ALL)
    assert registry.faults == []
    monkeypatch.setattr(server_tools, "registry", lambda: registry)
    return registry
