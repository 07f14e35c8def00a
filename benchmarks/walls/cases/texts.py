"""Texts that cost more than their length where costs do not grow in a straight line."""

import json
from random import Random
from typing import Any

from benchmarks.bodies import UUID, WIDGET
from benchmarks.walls.admin_pages import form_in, person
from benchmarks.walls.arena import JSON, Arena, human, spread
from benchmarks.walls.copilots import SUGGESTING, SUGGESTIONS
from benchmarks.walls.misbehaviour import Order

AT_ONCE = 2
LIMIT = 20 * 2**20 - 1000
REPEATED = ("a", " ", "word ", "[", "{", "{{", '"', "\\", "\u00e4", "\u0301", "a\u0316\u0301", "`")
COMPONENT_PATHS = ("table_analyst", "calculator", "returns_toolkit", "document_search")


async def send(arena: Arena) -> None:
    """Each kind in its turn."""
    kinds = [*KINDS]
    arena.random.shuffle(kinds)

    async def case(random: Random) -> None:
        await (kinds.pop() if kinds else random.choice(KINDS))(arena, random)

    await arena.each(case, at_once=AT_ONCE)


async def _repeated(arena: Arena, random: Random) -> None:
    """A question, an answer or data that repeats one piece."""
    piece = random.choice(REPEATED)
    text = piece * (spread(random, 50_000, 400_000) // len(piece))
    before: list[Any] = [human("A question"), {"role": "ai", "content": text}]
    context = [{"uuid": UUID, "name": "x", "data": {"items": [{"content": text}]}}]
    body = random.choice(
        (
            {"messages": [human(text)]},
            {"messages": [*before, human("And now?")]},
            {"messages": [human("A question")], "context": context},
            {"messages": [human("A question")], "timezone": text, "model": text},
        )
    )
    await arena.ask(body, slug=random.choice(("rehearsed", "wild", "bench")))


async def _brackets(arena: Arena, random: Random) -> None:
    """A body that is nothing but openings."""
    piece = random.choice((b"[", b'{"a":', b'["', b"[[],", b'{"messages":[', b'"\\u0000'))
    await arena.ask(piece * (spread(random, 1000, 400_000) // len(piece)))


async def _large_body(arena: Arena, random: Random) -> None:
    """15 to 20 MB of JSON, deep or wide, where protocols have data."""
    size = random.randint(LIMIT * 3 // 4, LIMIT)
    filling = _filling(random, size)
    question = b'{"messages": [{"role": "human", "content": "What is it?"}], '
    place = random.choice(
        (
            b'"context": [{"uuid": "1", "name": "x", "data": {"items": [{"content": %b}]}}]}',
            b'"context": [{"type": "data", "kind": "prices", "data": %b}]}',
            b'"workspace_state": {"a": %b}}',
            b'"extra": %b}',
            b'"widgets": {"primary": %b, "secondary": [], "extra": []}}',
            b'"tools": %b}',
        )
    )
    await arena.ask(question + place.replace(b"%b", filling), slug=random.choice(SLUGS))


def _filling(random: Random, size: int) -> bytes:
    """A value of about so many bytes."""
    depth = random.choice((1, 3, 30, 60, 250, 5000))
    rows = b'{"date": "2024-01-02", "close": 185.6, "name": "A"}'
    kinds: tuple[bytes, ...] = (
        b"1",
        b'""',
        b"{}",
        b"[]",
        b'"\\"\\\\"',
        b'"word word"',
        b'{"a": 1}',
        rows,
        b"1.5e-7",
    )
    if random.random() < 0.2:  # one text
        piece = random.choice((b"x", b'\\"', b"\\u00e4", "\u5e74".encode(), b"\\ud800", b"word "))
        return b'"' + piece * (size // len(piece)) + b'"'
    if random.random() < 0.2:  # nested, again and again
        kinds = (b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth)
    piece = random.choice(kinds) + b","
    wide = b"[" + (piece * (size // len(piece)))[:-1] + b"]"
    return wide


async def _arguments(arena: Arena, random: Random) -> None:
    """A component that is called with up to a million values."""
    number = spread(random, 10_000, 1_000_000)
    rows = random.choice(
        ([{"a": 1, "b": 2}] * (number // 2), list(range(number)), [[1]] * number, "a,b\n" * number)
    )
    name = random.choice(COMPONENT_PATHS)
    operations = [{"op": "sort", "by": "a"}] * random.randint(1, 3)
    known: dict[str, dict[str, Any]] = {
        "table_analyst": {"rows": rows, "operations": operations},
        "calculator": {"expression": random.choice(("1+", "(", "9^")) * (number // 2)},
        "returns_toolkit": {"prices": rows},
        "document_search": {"query": "word " * (number // 5)},
    }
    body = json.dumps({"stream": random.random() < 0.5, "parameters": known[name]}).encode()
    headers = {**JSON, "X-API-Key": arena.key}
    await arena.post(f"/v2/components/{name}", body, headers=headers)


async def _placeholders(arena: Arena, random: Random) -> None:
    """A draft whose prompt is nearly a placeholder, saved by a builder."""
    piece = random.choice(("{{", "{{ ", "}}", "{", "{{a}}", "[", "<", "`", " "))
    text = random.choice(("{{", "")) + piece * (spread(random, 10_000, 400_000) // len(piece))
    path = "/admin/copilot_admin/copilot/{}/change/"
    async with person(arena.port) as builder:
        await builder.log_in()
        ((id,),) = arena.installed.query(
            "SELECT id FROM copilot_admin_copilot WHERE slug = 'rehearsed'"
        )
        page = path.format(id)
        fields = {**form_in(await builder.look(page)), "system_prompt": text, "_continue": "1"}
        status = await builder.send(page, fields)
    arena.sent += 1
    arena.statuses[status] += 1
    if status not in (200, 302):
        arena.fault(f"{status} after a draft of {len(text)} characters")


async def _ranked(arena: Arena, random: Random) -> None:
    """Hundreds or thousands of widgets, which are ranked by the question."""
    number, words = spread(random, 100, 5000), spread(random, 1, 100)
    widgets = [
        {
            "uuid": f"{UUID[:-6]}{one:06}",
            **WIDGET,
            "widget_id": f"w{one}",
            "name": f"Widget {one}",
            "description": " ".join(f"word{random.getrandbits(16)}" for _ in range(words)),
            "params": [],
        }
        for one in range(number)
    ]
    place = random.choice(("primary", "secondary", "extra"))
    offered = {"primary": [], "secondary": [], "extra": [], place: widgets}
    question = human("word1 " * spread(random, 1, 5000))
    await arena.ask({"messages": [question], "widgets": offered}, slug=random.choice(SLUGS))


async def _searched(arena: Arena, random: Random) -> None:
    """A search in megabytes of text, which the rehearsing model asks for."""
    size = spread(random, 10_000, 8_000_000)
    piece = random.choice(("word ", "a", "Revenue grew. ", "\n", "\u5e74", ". "))
    text = piece * (size // len(piece.encode()))
    context = [{"uuid": UUID, "name": "Report", "data": {"items": [{"content": text}]}}]
    question = human("document_search: revenue " + "word " * spread(random, 1, 1500))
    await arena.ask({"messages": [question], "context": context}, slug="rehearsed")


async def _data_messages(arena: Arena, random: Random) -> None:
    """Data messages of clients: many kinds, or many pieces of one."""
    number = spread(random, 10, 20_000)
    rows = [{"a": one, "b": f"text {one}"} for one in range(number)]
    kinds = random.choice((1, 5, 500))
    size = max(number // kinds, 1)
    context = [
        {"type": "data", "kind": f"kind{one}", "data": rows[:size], "description": "x"}
        for one in range(kinds)
    ]
    await arena.ask({"messages": [human("table")], "context": context}, slug=random.choice(SLUGS))


async def _suggested(arena: Arena, random: Random) -> None:
    """An answer, and questions to be suggested after it, that are nothing but openings."""
    order = Order("brackets", spread(random, 1000, 400_000), random.getrandbits(32))
    body = {"messages": [human(f"Please {order}")], "workspace_options": [SUGGESTIONS]}
    await arena.ask(body, slug=SUGGESTING)


async def _html(arena: Arena, random: Random) -> None:
    """60 kB of HTML, also for a client that is shown its text."""
    order = Order("html", spread(random, 10_000, 190_000), random.getrandbits(32))
    body = {"messages": [human(f"Please {order}")], "workspace_options": ["generative-ui"]}
    await arena.ask(body, query=random.choice(("", "?generation=2")))


SLUGS = ("rehearsed", "wild", "bench")
KINDS = (
    *(_repeated, _brackets, _large_body, _large_body, _arguments, _placeholders, _ranked),
    *(_searched, _data_messages, _html, _suggested),
)
