"""Definition of a client function: an action that Workspace carries out for a copilot.

A function defines the tools that the model may call in a situation, and turns a call of the model
into the arguments that Workspace expects. The step ends with the call; the next one begins with its
result. Widget data has separate rules, in `copilot_admin/agent/client/widget_data.py`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, TypeAlias

from pydantic import BaseModel

from copilot_admin.agent.client.workspace import may_be_changed
from copilot_admin.agent.text import map_texts
from copilot_admin.agent.toolkits.markdown_images import without_remote_images
from copilot_admin.agent.tools.tool import read_arguments, schema_of
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from copilot_admin.agent.values.spec import CopilotSpec
from protocol.json import JsonObject
from protocol.models import Query, SourceResult, Widget

Identity: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolScope:
    """Situation that decides which tools a step has."""

    spec: CopilotSpec
    query: Query
    widgets: tuple[Widget, ...] = ()  # that the model may request in this step


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool that is carried out by the client, or answered by the server.

    The callables raise `ToolMistake`.
    """

    schema: ToolSchema
    function: str  # that is called for it
    arguments: Callable[[ToolCall], JsonObject] | None = None  # returns its `input_arguments`
    answer: Callable[[ToolCall], str] | None = None  # without the client
    state: Callable[[ToolCall], JsonObject] = lambda call: {}  # for the client's `extra_state`
    identity: Identity = ()  # distinguishes it from other tools of the same function


class ClientFunction(BaseModel):
    """A function of Workspace, with the arguments that a model gives to its tool.

    The docstring of a subclass describes the tool to the model. Only clients of generation 3 have
    such functions.
    """

    function: ClassVar[str]  # name on the wire, which its tool has too
    only_reads: ClassVar[bool] = False  # it changes nothing
    label: ClassVar[str] = ""  # for builders who limit its number of calls
    without_result: ClassVar[str] = "(no result)"  # for the model, if the client returned nothing
    changes_dashboard: ClassVar[bool] = False  # it is available only if the user allows this
    keeps_texts: ClassVar[bool] = False  # else images from hosts that aren't allowed are removed

    def build(self, scope: ToolScope) -> JsonObject:
        """Return the `input_arguments` of the function.

        Raises:
            ToolMistake: The call is wrong; the text describes a valid one to the model.
        """
        raise NotImplementedError

    def extra_state(self) -> JsonObject:
        return {}

    @classmethod
    def is_available(cls, scope: ToolScope) -> bool:
        return True

    @classmethod
    def more_description(cls, scope: ToolScope) -> str:
        return ""

    @classmethod
    def define_tools(cls, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield the tools of a situation; by default the one of the arguments."""
        is_allowed = not cls.changes_dashboard or may_be_changed(scope.spec, scope.query)
        if is_allowed and cls.is_available(scope):
            yield ToolDefinition(
                schema=describe(cls.function, cls, cls.more_description(scope)),
                function=cls.function,
                arguments=partial(cls._make_arguments, scope),
                state=lambda call: read_arguments(cls, call).extra_state(),
            )

    @classmethod
    def _make_arguments(cls, scope: ToolScope, call: ToolCall) -> JsonObject:
        arguments = read_arguments(cls, call).build(scope)
        clean = partial(without_remote_images, sources=scope.spec.html_sources)
        return arguments if cls.keeps_texts else map_texts(arguments, clean)

    @classmethod
    def to_tool_call(cls, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """Return an earlier call in the model's form: name of the tool and arguments."""
        return cls.function, arguments

    @classmethod
    def identity(cls, arguments: JsonObject) -> Identity:
        """Return the function's tool that made an earlier call; empty if it has only one."""
        return ()

    @classmethod
    def result_text(cls, result: SourceResult) -> str | None:
        """Return a result as text for the model, or None to display it as data."""
        return None


def describe(name: str, arguments: type[BaseModel], more: str = "") -> ToolSchema:
    """Return the schema of a tool that the docstring of its arguments describes."""
    schema = {key: one for key, one in schema_of(arguments).items() if key != "description"}
    text = " ".join((arguments.__doc__ or "").split())
    return ToolSchema(name=name, description=text + more, parameters=schema)
