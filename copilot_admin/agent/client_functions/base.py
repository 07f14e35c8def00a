"""Definition of a client function: an action that Workspace carries out for a copilot.

A function defines the tools that the model may call in a situation, and turns a call of the model
into the arguments that Workspace expects. The step ends with the call; the next one begins with its
result. Widget data has separate rules, in `copilot_admin/agent/client/widget_data.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from pydantic import BaseModel

from copilot_admin.agent.client.limits import CallLimitMessages
from copilot_admin.agent.tools.tool_arguments import schema_of
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from copilot_admin.agent.values.spec import CopilotSpec
from protocol.json import JsonObject
from protocol.models import Query, SourceResult, Widget

Identity: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScope:
    """Situation that decides which tools a step has.

    Attributes:
        widgets: Widgets that the model may request in this step.
    """

    spec: CopilotSpec
    query: Query
    widgets: tuple[Widget, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool that is carried out by the client, or answered by the server.

    The callables raise `ToolMistake`.

    Attributes:
        function: The client function that is called for it.
        arguments: Builds the `input_arguments` of the function from the model's call.
        answer: Answers the model's call without the client.
        state: Members that the client reads in `extra_state`.
        unlisted: The tool isn't offered to the model, but the model may call it.
        identity: Distinguishes it from other tools of the same function.
    """

    schema: ToolSchema
    function: str
    arguments: Callable[[ToolCall], JsonObject] | None = None
    answer: Callable[[ToolCall], str] | None = None
    state: Callable[[ToolCall], JsonObject] = lambda call: {}
    unlisted: bool = False
    identity: Identity = ()


class ClientFunction(ABC):
    """A function of Workspace. Only clients of generation 3 have them.

    Attributes:
        name: On the wire.
        only_reads: It changes nothing.
        label: Its name for builders who limit its number of calls.
        without_result: Text for the model if the client returned nothing.
        keeps_texts: Workspace receives the texts of the model unchanged; otherwise without images
            from hosts that aren't allowed.
    """

    name: ClassVar[str]
    only_reads: ClassVar[bool] = False
    label: ClassVar[str] = ""
    without_result: ClassVar[str] = "(no result)"
    keeps_texts: ClassVar[bool] = False

    @property
    def limit_messages(self) -> CallLimitMessages:
        """Messages for the user when the function has reached its call limit."""
        return CallLimitMessages(f"{self.label or self.name}: Workspace was already asked for this")

    @abstractmethod
    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield the tools of a situation; empty if the function can't be called in it."""

    def to_tool_call(self, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """Return an earlier call in the model's form: name of the tool and arguments."""
        return self.name, arguments

    def identity(self, arguments: JsonObject) -> Identity:
        """Return the function's tool that made an earlier call; empty if it has only one."""
        return ()

    def result_text(self, result: SourceResult) -> str | None:
        """Return a result as text for the model, or None to display it as data."""
        return None

    def define_tool(
        self, arguments: type[BaseModel], read: Callable[[ToolCall], JsonObject]
    ) -> ToolDefinition:
        """Define a tool with the function's own name, described by the arguments' docstring."""
        schema = describe(self.name, arguments)
        return ToolDefinition(schema=schema, function=self.name, arguments=read)


def describe(name: str, arguments: type[BaseModel], more: str = "") -> ToolSchema:
    """Return the schema of a tool that the docstring of its arguments describes."""
    schema = {key: one for key, one in schema_of(arguments).items() if key != "description"}
    text = " ".join((arguments.__doc__ or "").split())
    return ToolSchema(name=name, description=text + more, parameters=schema)
