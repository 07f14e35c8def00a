"""Chats without a trace id: very many equal ones, each a little longer, at the same time."""

from random import Random
from typing import Any

from benchmarks.script import Script
from benchmarks.walls.arena import Arena, human, spread

AT_ONCE = 8
MOST_TURNS = 60
CHATS = 3  # kinds of chats; all others are equal to one of them
RERENDERED = 0.2  # of the answers come back in other words


async def send(arena: Arena) -> None:
    """Questions of a few chats, of which each client has said a part."""
    chats = [_chat(arena.random) for _ in range(CHATS)]
    words = Script(chunks=3, every_ms=0).question

    async def case(random: Random) -> None:
        for _ in range(4):
            chat = random.choice(chats)
            said = [dict(one) for one in chat[: 2 * spread(random, 1, MOST_TURNS)]]
            for message in said:
                if message["role"] == "ai" and random.random() < RERENDERED / MOST_TURNS:
                    message["content"] += " (rendered)"
            reply = await arena.ask({"messages": [*said, human(words)]}, slug="bench")
            if reply.status != 200 or not reply.whole:
                arena.fault(f"{reply.status} for a chat of {len(said)} messages")

    await arena.each(case, at_once=AT_ONCE)


def _chat(random: Random) -> list[dict[str, Any]]:
    question, answer = (
        random.choice(("Hello", "", "What moved today?")),
        "x" * random.randint(1, 50),
    )
    turn = [human(question), {"role": "ai", "content": answer}]
    return turn * MOST_TURNS
