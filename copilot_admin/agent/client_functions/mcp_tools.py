"""The user's MCP tools: each has its own name and schema, and Workspace calls it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
import json

from copilot_admin.agent.client.limits import CallLimitMessages
from copilot_admin.agent.client_functions.base import (
    ClientFunction,
    Identity,
    ToolDefinition,
    ToolScope,
)
from copilot_admin.agent.client_functions.tool_schemas import ANY_OBJECT, repair_schema
from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool_arguments import ToolMistake, tool_name
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from protocol.json import JsonObject, text_of
from protocol.models import Query


class ExecuteAgentTool(ClientFunction):
    """Available for each named tool of the request."""

    name = "execute_agent_tool"
    label = "Tools of the user (MCP)"
    keeps_texts = True
    limit_messages = CallLimitMessages("Tools were already called", "no more tools are called")

    def define_tools(self, scope: ToolScope) -> Iterable[ToolDefinition]:
        """Yield each tool, and Workspace's own function, which isn't listed."""
        tools: dict[Identity, JsonObject] = {}
        for tool in scope.query.tools:
            if text_of(tool.get("name")).strip():
                tools.setdefault(_identity(tool), tool)
        for identity, tool in tools.items():
            schema = ToolSchema(
                name=tool_name(text_of(tool.get("name"))),
                description=text_of(tool.get("description")),
                parameters=repair_schema(tool.get("input_schema")),
            )
            arguments = partial(_make_arguments, tool)
            yield ToolDefinition(
                schema=schema, function=self.name, arguments=arguments, identity=identity
            )
        if tools:
            # Models that know Workspace call its function directly.
            schema = ToolSchema(name=self.name, description="", parameters=ANY_OBJECT)
            unwrap = partial(_unwrap, [*tools.values()])
            yield ToolDefinition(schema=schema, function=self.name, arguments=unwrap, unlisted=True)

    def to_tool_call(self, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """Return the call under the tool's own name."""
        parameters = arguments.get("parameters")
        name = tool_name(text_of(arguments.get("tool_name")))
        return name, parameters if isinstance(parameters, Mapping) else {}

    def identity(self, arguments: JsonObject) -> Identity:
        """Return server and name: two servers may have tools of one name."""
        return text_of(arguments.get("server_id")), text_of(arguments.get("tool_name"))


def _identity(tool: JsonObject) -> Identity:
    return text_of(tool.get("server_id")), text_of(tool.get("name"))


def _make_arguments(tool: JsonObject, call: ToolCall) -> JsonObject:
    parameters = _parse(call)
    required = repair_schema(tool.get("input_schema")).get("required")
    wanted = required if isinstance(required, list) else []
    missing = [name for name in wanted if isinstance(name, str) and name not in parameters]
    if missing:
        raise ToolMistake(
            f"Wrong arguments for the tool {quote(call.name)}: {join_names(missing)} must be given."
        )
    return {
        "server_id": text_of(tool.get("server_id")),
        "tool_name": text_of(tool.get("name")),
        "parameters": parameters,
    }


def _unwrap(tools: Sequence[JsonObject], call: ToolCall) -> JsonObject:
    given = _parse(call)
    name, server = given.get("tool_name"), given.get("server_id")
    exact = [tool for tool in tools if name == tool["name"]]
    named = exact or [tool for tool in tools if name == tool_name(str(tool["name"]))]
    fitting = [tool for tool in named if server in (None, "", tool.get("server_id"))]
    if not fitting:
        names = join_names(tool_name(str(tool["name"])) for tool in tools)
        raise ToolMistake(f"There is no tool called {quote(name)}. Tools: {names}.")
    servers = dict.fromkeys(text_of(tool.get("server_id")) for tool in fitting)
    if len(servers) > 1:
        raise ToolMistake(
            f"Several servers have a tool called {quote(name)}. "
            f"Name one as 'server_id': {join_names(map(quote, servers))}."
        )
    parameters = json.dumps(given.get("parameters") or {})
    return _make_arguments(fitting[0], replace(call, name=str(name), arguments=parameters))


def _parse(call: ToolCall) -> JsonObject:
    try:
        parsed = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise ToolMistake(f"Wrong arguments for the tool {quote(call.name)}: write a JSON object.")
    return parsed
