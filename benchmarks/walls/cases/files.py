"""Files of strangers: in the context, as results of widgets and tools, behind links, of components."""

import asyncio
from base64 import b64encode
import json
from random import Random
from typing import Any

from benchmarks.bodies import SOURCE, UUID, WIDGET
from benchmarks.walls.arena import JSON, Arena, human
from benchmarks.walls.drawn_files import drawn_file

AT_ONCE = 3
MOST_BYTES = 14 * 2**20  # of one body, in base64 below its limit
LINKED = 0.4  # of the files are behind links
MISLED = 0.1  # of the links lead to what has no end


async def send(arena: Arena) -> None:
    """Questions with one to three files each, and calls of a component with some."""

    async def case(random: Random) -> None:
        if random.random() < 0.2:
            await _call(arena, random)
            return
        items, size = [], 0
        for _ in range(random.randint(1, 3)):
            item = await _item(arena, random)
            size += len(item.get("content", ""))
            if size < MOST_BYTES * 4 // 3:
                items.append(item)
        await arena.ask(_question(random, items), slug=random.choice(("wild", "rehearsed")))

    await arena.each(case, at_once=AT_ONCE)


async def _item(arena: Arena, random: Random) -> dict[str, Any]:
    seed = random.getrandbits(48)
    if random.random() < LINKED:
        kind, url = await _link(arena, random, seed)
        return {"url": url, "data_format": {"data_type": kind, "filename": f"a.{kind}"}}
    kind, data = await asyncio.to_thread(drawn_file, Random(seed), most=0.5)
    text = b64encode(data).decode()
    if random.random() < 0.1:
        text = text[: random.randint(0, len(text))] + random.choice(("", "=", "!", "\u00e4"))
    return {"content": text, "data_format": {"data_type": kind, "filename": f"a.{kind}"}}


async def _link(arena: Arena, random: Random, seed: int) -> tuple[str, str]:
    """The kind of a file and its address on the server of strangers."""
    address = f"http://127.0.0.1:{arena.strangers}"
    if random.random() < MISLED:
        return "pdf", address + random.choice(("/endless", "/again", "/no/such\u00e4"))
    kind, _ = await asyncio.to_thread(drawn_file, Random(seed))
    return kind, f"{address}/file/{seed}"


def _question(random: Random, items: list[dict[str, Any]]) -> dict[str, Any]:
    question = human("What do the files say? document_search: revenue")
    place = random.choice(("context", "widget", "upload", "tool"))
    if place == "context":
        context = [{"uuid": UUID, "name": "A file", "description": "", "data": {"items": items}}]
        return {"messages": [question], "context": context}
    source = dict(SOURCE)
    if place == "upload":
        source |= {"origin": "OpenBB Hub", "id": "file-1"}
    arguments: dict[str, Any] = {"data_sources": [source]}
    function = "get_widget_data"
    if place == "tool":
        function, arguments = "execute_agent_tool", {"server_id": "1", "tool_name": "read"}
    call = json.dumps({"function": function, "input_arguments": arguments})
    result = {
        "role": "tool",
        "function": function,
        "input_arguments": arguments,
        "data": [{"items": items}],
        "extra_state": {},
    }
    widgets = {"primary": [{"uuid": UUID, **WIDGET, "params": []}], "secondary": [], "extra": []}
    return {"messages": [question, {"role": "ai", "content": call}, result], "widgets": widgets}


async def _call(arena: Arena, random: Random) -> None:
    urls = {}
    for number in range(random.randint(1, 4)):
        kind, url = await _link(arena, random, random.getrandbits(48))
        urls[f"{number}.{kind}"] = url
    parameters = {"query": "revenue", "_sys_file_urls": urls}
    body = {"stream": random.random() < 0.5, "parameters": parameters}
    await arena.post(
        "/v2/components/document_search/version/v1",
        json.dumps(body).encode(),
        headers={**JSON, "X-API-Key": arena.key},
    )
