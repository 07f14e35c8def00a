"""The user's MCP tools: each has its own name and schema, and Workspace calls it."""

from collections.abc import Iterable, Mapping
from functools import partial
import json

from copilot_admin.agent.client_functions.base import (
    ClientFunction,
    Identity,
    ToolDefinition,
    ToolScope,
)
from copilot_admin.agent.text import join_names, quote
from copilot_admin.agent.tools.tool import ToolMistake, tool_name
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema
from protocol.functions import EXECUTE_AGENT_TOOL
from protocol.json import Json, JsonObject, list_of, object_of, objects_of, text_of
from protocol.json_schema import resolve_reference
from protocol.models import Query

ANY_OBJECT: JsonObject = {"type": "object", "properties": {}}
_COMBINATIONS = ("allOf", "anyOf", "oneOf")
_NOT_AT_TOP = frozenset({*_COMBINATIONS, "not", "enum", "const", "if", "then", "else"})
_META = frozenset({"$schema", "$id", "$comment"})
_NAMED = frozenset({"properties", "$defs", "definitions", "patternProperties"})  # schemas by name
_LISTED = frozenset({*_COMBINATIONS, "prefixItems"})
_SINGLE = frozenset({"additionalProperties", "not", "if", "then", "else", "contains"})


class ExecuteAgentTool(ClientFunction):
    function = EXECUTE_AGENT_TOOL
    label = "Tools of the user (MCP)"

    @classmethod
    def define_tools(cls, scope: ToolScope) -> Iterable[ToolDefinition]:
        tools = {
            (text_of(tool.get("server_id")), text_of(tool.get("name"))): tool
            for tool in reversed(scope.query.tools)  # the first of equal ones counts
            if text_of(tool.get("name")).strip()
        }
        for identity, tool in reversed(tools.items()):
            yield ToolDefinition(
                schema=ToolSchema(
                    name=tool_name(text_of(tool.get("name"))),
                    description=text_of(tool.get("description")),
                    parameters=repair_schema(tool.get("input_schema")),
                ),
                function=cls.function,
                arguments=partial(_make_arguments, tool),
                identity=identity,
            )

    @classmethod
    def to_tool_call(cls, arguments: JsonObject, query: Query) -> tuple[str, JsonObject]:
        parameters = arguments.get("parameters")
        name = tool_name(text_of(arguments.get("tool_name")))
        return name, parameters if isinstance(parameters, Mapping) else {}

    @classmethod
    def identity(cls, arguments: JsonObject) -> Identity:
        """Return server and name: two servers may have tools of one name."""
        return text_of(arguments.get("server_id")), text_of(arguments.get("tool_name"))


def _make_arguments(tool: JsonObject, call: ToolCall) -> JsonObject:
    try:
        parameters = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        parameters = None
    problem = "write a JSON object"
    if isinstance(parameters, dict):
        required = list_of(repair_schema(tool.get("input_schema")).get("required"))
        missing = [str(name) for name in required if name not in parameters]
        problem = f"{join_names(missing)} must be given" if missing else ""
    if problem:
        raise ToolMistake(f"Wrong arguments for the tool {quote(call.name)}: {problem}.")
    return {
        "server_id": text_of(tool.get("server_id")),
        "tool_name": text_of(tool.get("name")),
        "parameters": parameters,
    }


def repair_schema(schema: Json) -> JsonObject:
    """Return the schema of a tool's arguments in a form that every provider accepts.

    Source: OpenAI rejects combinations of schemas at the top level. Gemini requires `items` with
    each array, one type for an item, and only names of properties in `required`.
    """
    top = resolve_reference(object_of(schema), object_of(schema))
    if "object" not in _types(top, default="object"):
        return ANY_OBJECT
    branches = {name: _branches(top, name) for name in _COMBINATIONS}
    parts = [top, *(branch for found in branches.values() for branch in found)]
    properties: dict[str, Json] = {}
    for part in reversed(parts):
        properties |= object_of(part.get("properties"))
    required = _required(top)
    required |= {name for one in branches["allOf"] for name in _required(one)}
    for name in ("anyOf", "oneOf"):
        if branches[name]:
            required |= set.intersection(*map(_required, branches[name]))
    rest = {name: value for name, value in top.items() if name not in _NOT_AT_TOP}
    names: list[Json] = [name for name in properties if name in required]
    merged = {**rest, "type": "object", "properties": properties, "required": names}
    repaired = dict(_repair(merged))
    if not names:
        del repaired["required"]
    return repaired


def _required(schema: JsonObject) -> set[str]:
    return {name for name in list_of(schema.get("required")) if isinstance(name, str)}


def _branches(top: JsonObject, name: str) -> list[JsonObject]:
    return [resolve_reference(branch, top) for branch in objects_of(top.get(name))]


def _repair(node: Json, *, is_item: bool = False) -> JsonObject:
    if not isinstance(node, Mapping):
        return {}  # `true`
    repaired: dict[str, Json] = {}
    for name, value in node.items():
        if name in _META or (name == "enum" and not list_of(value)):
            continue
        if name in _NAMED:
            repaired[name] = {key: _repair(one) for key, one in object_of(value).items()}
        elif name in _LISTED:
            repaired[name] = [_repair(one) for one in list_of(value)]
        elif name in _SINGLE and isinstance(value, Mapping):
            repaired[name] = _repair(value)
        else:
            repaired[name] = value
    types = [one for one in _types(node) if one != "null"]
    if is_item and len(types) == 1:
        repaired["type"] = types[0]
    if "array" in types or "items" in node:
        repaired["items"] = _items(node.get("items"), is_item=is_item)
    if isinstance(properties := repaired.get("properties"), Mapping) and "required" in repaired:
        names = list_of(node["required"])
        repaired["required"] = [one for one in names if isinstance(one, str) and one in properties]
    return repaired


def _items(items: Json, *, is_item: bool) -> JsonObject:
    if isinstance(items, list):  # in older drafts: one schema for each place
        items = items[0] if len(items) == 1 else {"anyOf": items} if items else {}
    repaired = _repair(items, is_item=True)
    return repaired or ({"type": "string"} if is_item else {})


def _types(schema: JsonObject, default: str = "") -> list[Json]:
    kind = schema.get("type") or default
    return [kind] if kind and isinstance(kind, str) else list(list_of(kind))
