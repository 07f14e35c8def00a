"""Thousands of something of which a question has a few: tools, items, files, widgets, options."""

from base64 import b64encode
from collections.abc import Callable
from random import Random
from typing import Any

from benchmarks.bodies import UUID, WIDGET
from benchmarks.walls.arena import Arena, human, spread
from benchmarks.walls.misbehaviour import Order

AT_ONCE = 2
MOST = 24_000
UNREAD = ("pptx", "ods", "heic", "eml", "zip", "exe", "pdf", "png", "", "x" * 50)
SLUGS = ("wild", "rehearsed", "bench")


async def send(arena: Arena) -> None:
    """Each kind in its turn."""
    kinds = [*KINDS]
    arena.random.shuffle(kinds)

    async def case(random: Random) -> None:
        kind = kinds.pop() if kinds else random.choice(KINDS)
        order = Order("many_calls", spread(random, 1, 100), random.getrandbits(32))
        question = human(random.choice((f"Please {order}", "table", "document_search: revenue")))
        body = {"messages": [question], **kind(random, spread(random, 1000, MOST))}
        await arena.ask(body, slug=random.choice(SLUGS))

    await arena.each(case, at_once=AT_ONCE)


def _tools(random: Random, number: int) -> dict[str, Any]:
    name, ends = random.choice(("t", "table", "x" * 64)), random.choice((1, 10, number))
    tools = [{"server_id": str(one), "name": f"{name}{one % ends}"} for one in range(number)]
    return {"tools": tools}


def _items(random: Random, number: int) -> dict[str, Any]:
    """Very many parts of one piece of context."""
    item = random.choice(({"content": "x"}, {"content": ""}, {"content": '[{"a": 1}]'}, {}))
    return {"context": [_piece(0, [item] * number)]}


def _pieces(random: Random, number: int) -> dict[str, Any]:
    """Very many pieces of context of one name, or of many."""
    ends = random.choice((1, 10, number))
    return {"context": [_piece(one % ends, [{"content": "x"}]) for one in range(number)]}


def _files(random: Random, number: int) -> dict[str, Any]:
    """Files that nobody can read."""
    content = b64encode(random.randbytes(spread(random, 1, 100))).decode()
    items = [_file(random.choice(UNREAD), one, content) for one in range(number)]
    if random.random() < 0.5:
        return {"context": [_piece(0, items)]}
    return {"context": [_piece(one, [item]) for one, item in enumerate(items)]}


def _links(random: Random, number: int) -> dict[str, Any]:
    """Files behind addresses that lead nowhere, or where nobody may go."""
    host = random.choice(
        ("http://127.0.0.1:9", "http://169.254.169.254", "file://", "http://[", "")
    )
    items = [
        {"url": f"{host}/{one}.pdf", "data_format": {"data_type": "pdf", "filename": f"{one}.pdf"}}
        for one in range(number)
    ]
    return {"context": [_piece(0, items)]}


def _widgets(random: Random, number: int) -> dict[str, Any]:
    params = [{"name": f"p{one}", "type": "text", "description": "x"} for one in range(3)]
    widgets = [
        {**WIDGET, "uuid": f"{UUID[:-6]}{one:06}", "widget_id": "w", "params": params}
        for one in range(number)
    ]
    return {"widgets": {"primary": widgets, "secondary": [], "extra": []}}


def _params(random: Random, number: int) -> dict[str, Any]:
    """Very many parameters, or choices of one, of one widget."""
    choices = {"name": "p", "type": "text", "description": "x", "options": ["x"] * number}
    named = [{"name": f"p{one}", "type": "text", "description": "x"} for one in range(number)]
    params = random.choice(([choices], named))
    widget = {"uuid": UUID, **WIDGET, "params": params}
    return {"widgets": {"primary": [widget], "secondary": [], "extra": []}}


def _options(random: Random, number: int) -> dict[str, Any]:
    option = random.choice(("x", {"key": "k", "value": "v"}))
    return {"workspace_options": [option] * number, "urls": ["https://example.com/a"] * number}


def _piece(number: int, items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"uuid": UUID, "name": f"Piece {number}", "description": "", "data": {"items": items}}


def _file(kind: str, number: int, content: str) -> dict[str, Any]:
    named = {"data_type": kind, "filename": f"{number}.{kind}"}
    return {"content": content, "data_format": named}


KINDS: tuple[Callable[[Random, int], dict[str, Any]], ...] = (
    *(_tools, _items, _pieces, _files, _files, _links, _widgets, _params, _options),
)
