"""The user's MCP tools: each is offered by its own name and schema, Workspace calls it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
import json
from typing import ClassVar

from copilot_admin.agent.client.call_budget import CallWords
from copilot_admin.agent.client_functions.registry import (
    ClientFunction,
    Identity,
    Offer,
    Situation,
)
from copilot_admin.agent.client_functions.samples import Sample
from copilot_admin.agent.toolkits.texts import listed, quoted
from copilot_admin.agent.tools.tool_arguments import ToolMistake, tool_name
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from protocol.json import JsonObject, text_of
from protocol.models import Query

_ANY: JsonObject = {"type": "object", "properties": {}}


class ExecuteAgentTool(ClientFunction):
    """Offers what the request lists in `tools`; a tool without a name cannot be called."""

    name: ClassVar[str] = "execute_agent_tool"
    label: ClassVar[str] = "Tools of the user (MCP)"
    words: ClassVar[CallWords] = CallWords(
        done="Tools were already called", no_more="no more tools are called"
    )
    samples: ClassVar[Sequence[Sample]] = (Sample(tool="kb_search_docs", arguments={"q": "rates"}),)

    def offers(self, situation: Situation) -> Iterable[Offer]:
        """One tool for each of the client's, and the client's own function, which is not listed."""
        tools = _distinct(situation.query.tools)
        for tool in tools:
            yield Offer(
                schema=ToolSchema(
                    name=tool_name(text_of(tool.get("name"))),
                    description=text_of(tool.get("description")),
                    parameters=_schema(tool),
                ),
                function=self.name,
                arguments=partial(_arguments, tool),
                identity=_identity(tool),
            )
        if tools:
            # Models that have read of Workspace call its function by its own name.
            schema = ToolSchema(name=self.name, description="", parameters=_ANY)
            arguments = partial(_wrapped, tools)
            yield Offer(schema=schema, function=self.name, arguments=arguments, unlisted=True)

    def recalled(self, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        """The tool under its own name; where it has vanished, what the client says of it."""
        parameters = arguments.get("parameters")
        name = tool_name(text_of(arguments.get("tool_name")))
        return name, parameters if isinstance(parameters, Mapping) else {}

    def identity(self, arguments: JsonObject) -> Identity:
        """The server and the name that it has there: two servers may have tools of one name."""
        return text_of(arguments.get("server_id")), text_of(arguments.get("tool_name"))


def _distinct(tools: Iterable[JsonObject]) -> list[JsonObject]:
    found: dict[Identity, JsonObject] = {}
    for tool in tools:
        if text_of(tool.get("name")).strip():
            found.setdefault(_identity(tool), tool)
    return [*found.values()]


def _identity(tool: JsonObject) -> Identity:
    return text_of(tool.get("server_id")), text_of(tool.get("name"))


def _arguments(tool: JsonObject, call: ToolCall) -> JsonObject:
    parameters = _parsed(call)
    required = _schema(tool).get("required")
    wanted = required if isinstance(required, list) else []
    missing = [name for name in wanted if isinstance(name, str) and name not in parameters]
    if missing:
        raise ToolMistake(
            f"Wrong arguments for the tool {quoted(call.name)}: {listed(missing)} must be given."
        )
    return {
        "server_id": text_of(tool.get("server_id")),
        "tool_name": text_of(tool.get("name")),
        "parameters": parameters,
    }


def _wrapped(tools: Sequence[JsonObject], call: ToolCall) -> JsonObject:
    given = _parsed(call)
    name, server = given.get("tool_name"), given.get("server_id")
    exact = [tool for tool in tools if name == tool["name"]]
    named = exact or [tool for tool in tools if name == tool_name(str(tool["name"]))]
    fitting = [tool for tool in named if server in (None, "", tool.get("server_id"))]
    if not fitting:
        names = listed(tool_name(str(tool["name"])) for tool in tools)
        raise ToolMistake(f"There is no tool called {quoted(name)}. Tools: {names}.")
    servers = dict.fromkeys(text_of(tool.get("server_id")) for tool in fitting)
    if len(servers) > 1:
        raise ToolMistake(
            f"Several servers have a tool called {quoted(name)}. "
            f"Name one as 'server_id': {listed(map(quoted, servers))}."
        )
    parameters = json.dumps(given.get("parameters") or {})
    return _arguments(fitting[0], replace(call, name=str(name), arguments=parameters))


def _parsed(call: ToolCall) -> JsonObject:
    try:
        parsed = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        parsed = None
    if not isinstance(parsed, dict):
        raise ToolMistake(f"Wrong arguments for the tool {quoted(call.name)}: write a JSON object.")
    return parsed


def _schema(tool: JsonObject) -> JsonObject:
    schema = tool.get("input_schema")
    if not isinstance(schema, Mapping) or schema.get("type", "object") != "object":
        return _ANY
    return {**_ANY, **schema}
