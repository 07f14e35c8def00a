"""Questions of twenty megabytes of one text, six at once: plain, wide, escaped, in any place."""

import json
from random import Random
from typing import Any

from benchmarks.bodies import UUID
from benchmarks.walls.arena import Arena, human

AT_ONCE = 6
LIMIT = 20 * 2**20 - 10_000
PIECES = (
    "x",
    "word ",
    "\u00e4",
    "\u5e74",
    "\U0001f600",
    "x" * 1000 + "\U0001f600",
    '"',
    "\\u00e4",
    "\n",
)
SLUGS = ("bench", "wild", "rehearsed")
MOST_MESSAGES = 1900


async def send(arena: Arena) -> None:
    """Each case is one of the largest questions there are; six are always under way."""

    async def case(random: Random) -> None:
        await arena.ask(drawn_question(random), slug=random.choice(SLUGS))

    await arena.each(case, at_once=AT_ONCE)


def drawn_question(random: Random) -> bytes:
    """A question whose text fills the body, in one of the places that have room for it."""
    as_ascii = random.random() < 0.3
    piece = random.choice(PIECES)
    width = len(json.dumps(piece, ensure_ascii=as_ascii).encode()) - 2
    number = random.randint(LIMIT * 3 // 4, LIMIT) // width
    body = random.choice((_asked, _answered, _talked, _shown))(piece, number)
    return json.dumps(body, ensure_ascii=as_ascii).encode()


def _asked(piece: str, number: int) -> dict[str, Any]:
    return {"messages": [human(piece * number)]}


def _answered(piece: str, number: int) -> dict[str, Any]:
    """A history with an answer that nobody gave."""
    before = [human("A question"), {"role": "ai", "content": piece * number}]
    return {"messages": [*before, human("And now?")]}


def _talked(piece: str, number: int) -> dict[str, Any]:
    """As many messages as there may be."""
    text = piece * (number // MOST_MESSAGES - 40 // len(piece))
    said = [human(text), {"role": "ai", "content": text}]
    return {"messages": [*said * (MOST_MESSAGES // 2), human("And now?")]}


def _shown(piece: str, number: int) -> dict[str, Any]:
    items = [{"content": piece * number}]
    context = [{"uuid": UUID, "name": "Report", "data": {"items": items}}]
    return {"messages": [human("What is it?")], "context": context}
