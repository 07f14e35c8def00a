"""Tools of clients (MCP) whose names, schemas and results are hostile, and models that call them."""

import json
from random import Random
from typing import Any

from benchmarks.walls.arena import Arena, human, spread
from benchmarks.walls.misbehaviour import TOOL, Order

AT_ONCE = 4
LARGEST = 200_000
DEEPEST = 400  # schemas in one another; each may be two objects, and Python writes no more than a thousand
SLOW_PATTERNS = (
    r"^(a+)+$",
    r"(a|aa)+$",
    r"^(\w+\s?)*$",
    r"(.*a){20}",
    r"(?=(a+))a*b",
    r"[",
    r"\p{L}",
)


async def send(arena: Arena) -> None:
    """A question with such a tool; every other one has had its result already."""

    async def case(random: Random) -> None:
        size = spread(random, 10, LARGEST)
        tool = {
            "server_id": "1",
            "name": random.choice((TOOL, TOOL, "", "a b", "\u202et0", "x" * 1000, "table")),
            "url": random.choice(("", "http://127.0.0.1:9", "javascript:alert(1)")),
            "description": random.choice(("", "x" * size, "{{ copilot.name }}", "<script>")),
            "input_schema": _schema(random, size),
        }
        order = Order("client_call", spread(random, 1, 5000), random.getrandbits(32))
        messages = [human(f"Please {order}")]
        if random.random() < 0.5:
            messages += _result(random, size)
        body = {"messages": messages, "tools": [tool, {**tool, "name": TOOL}]}
        reply = await arena.ask(body, slug=random.choice(("wild", "wild", "worded", "rehearsed")))
        if reply.status == 200 and not reply.whole:
            arena.fault(f"an answer with a tool did not end: {order}")

    await arena.each(case, at_once=AT_ONCE)


def _schema(random: Random, size: int) -> Any:
    """What a server says that the arguments of its tool are."""
    member = random.choice(
        (
            {"type": "string", "pattern": random.choice(SLOW_PATTERNS)},
            {"enum": ["x" * 5] * (size // 10)},
            {"$ref": "#"},
            {"$ref": "#/properties/q"},
            {"$ref": "http://127.0.0.1:9/schema"},
            {"anyOf": [{"type": "string"}] * (size // 20)},
            {"type": "array", "items": {"$ref": "#"}, "uniqueItems": True},
            {"type": "object", "patternProperties": {random.choice(SLOW_PATTERNS): {}}},
            {"default": float("nan"), "minimum": 1e308, "multipleOf": 1e-300},
            nested(random, min(size // 20, DEEPEST)),
        )
    )
    whole = {"type": "object", "properties": {"q": member, "r": member}, "required": ["q"]}
    many = {f"p{one}": {"type": "string"} for one in range(size // 30)}
    return random.choice((whole, whole, whole, {"properties": many}, [], "x", None, {"type": 1}))


def nested(random: Random, depth: int) -> dict[str, Any]:
    """Schemas in one another."""
    key = random.choice(("properties", "items", "allOf", "not"))
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        inner: Any = (
            {"q": schema} if key == "properties" else [schema] if key == "allOf" else schema
        )
        schema = {key: inner}
    return schema


def _result(random: Random, size: int) -> list[dict[str, Any]]:
    """A call, and what came of it."""
    arguments = {"server_id": "1", "tool_name": TOOL, "parameters": {"q": "x"}}
    text = random.choice(("x", "<b>", '{"a":', "[", "| a ", "\u0000", "\ud800")) * (size // 5)
    items: list[Any] = random.choice(
        ([{"content": text}], [{"content": "x"}] * (size // 20), [], [{}])
    )
    result: dict[str, Any] = {
        "role": "tool",
        "function": "execute_agent_tool",
        "input_arguments": arguments,
        "data": random.choice(
            ([{"items": items}], items, [], [{"error_type": "x", "content": text}])
        ),
        "extra_state": random.choice(({}, {"a": text}, {"copilot_function_call_arguments": []})),
    }
    call = json.dumps({"function": "execute_agent_tool", "input_arguments": arguments})
    return [{"role": "ai", "content": call}, result]
