"""What leaves through the client: HTML of a model that would load, run or ask for something."""

from collections.abc import Iterator
import json
from random import Random

from benchmarks.client import without_chunks
from benchmarks.walls.arena import Arena, human, spread
from benchmarks.walls.hostile_html import faults_in
from benchmarks.walls.misbehaviour import Order
from protocol.sse import decode

AT_ONCE = 3
LARGEST = 60_000


async def send(arena: Arena) -> None:
    """Artifacts and new widgets, in both generations that can show them."""

    async def case(random: Random) -> None:
        order = Order("html", spread(random, 100, LARGEST), random.getrandbits(32))
        body = {"messages": [human(f"Please {order}")], "workspace_options": ["generative-ui"]}
        query = random.choice(("", "", "?generation=2"))
        reply = await arena.ask(body, query=query)
        for html in shown(reply.body):
            for fault in faults_in(html)[:1]:
                arena.fault(f"a client is sent {fault} after {order}")

    await arena.each(case, at_once=AT_ONCE)


def shown(body: bytes) -> Iterator[str]:
    """The HTML in the events of an answer: of artifacts and of widgets."""
    for _, data in decode(without_chunks(body)):
        payload = json.loads(data)
        if payload.get("type") == "html":
            yield payload["content"]
        arguments = payload.get("input_arguments", {})
        if arguments.get("widget_type") == "html":
            yield arguments["data"]
