"""Models that misbehave: errors, floods, half answers and calls that nobody offered."""

from random import Random
from typing import Any

from benchmarks.walls.arena import Arena, human, spread
from benchmarks.walls.misbehaviour import WAYS, Order

AT_ONCE = 4
# Of each way: bytes, unless it counts something else.
LARGEST = {
    "error_body": 5_000_000,
    "packed_error": 300_000_000,
    "packed_stream": 300_000_000,
    "many_calls": 2_000,
    "long_arguments": 3_000_000,
    "odd_usage": 1_000_000_000_000,
    "web_page": 3_000_000,
    "text_and_error": 100_000,
    "huge_token": 10_000_000,
    "many_tokens": 8_000_000,
    "deep_chunk": 500_000,
    "large_head": 200_000,
    "html": 60_000,
    "component": 900_000,
    "bytewise": 100_000,
    "brackets": 400_000,
    "blank_lines": 12_000_000,
    "stays_in_its_error": 100_000,
}
SMALL = 1000
MOST_TOOLS = 20_000


async def send(arena: Arena) -> None:
    """Each way in its turn, each time with another size."""
    ways = sorted(WAYS)
    arena.random.shuffle(ways)

    async def case(random: Random) -> None:
        way = ways.pop() if ways else random.choice(sorted(WAYS))
        size = spread(random, 1, LARGEST.get(way, SMALL))
        order = Order(way, size, random.getrandbits(32))
        query = random.choice(("", "", "?generation=2"))
        body = {
            "messages": [human(f"Please {order}")],
            "workspace_options": ["generative-ui"],
            "tools": _tools(random),
        }
        reply = await arena.ask(body, slug=random.choice(("wild", "wild", "worded")), query=query)
        if reply.status != 200 or not reply.whole:
            arena.fault(f"{reply.status} after {order}, whole: {reply.whole}")

    await arena.each(case, at_once=AT_ONCE)


def _tools(random: Random) -> list[dict[str, Any]]:
    """What a client lists of its tools: none, a few, or thousands of one name."""
    number = random.choice((0, 3, spread(random, 10, MOST_TOOLS)))
    name = random.choice(("t", "t_", "chart", "execute_agent_tool", "\u202e", "x" * 60))
    ends = random.choice((1, 10, number))
    return [
        {"server_id": str(one), "name": f"{name}{one % ends}" if ends > 1 else name}
        for one in range(number)
    ]
