"""Readers of large pages who do not take them, with a log-in and without."""

import asyncio
from contextlib import suppress
from random import Random

from benchmarks.walls.admin_pages import MULTIPART, as_multipart, form_in, person
from benchmarks.walls.arena import Arena, spread
from benchmarks.walls.sending import head
from benchmarks.walls.unhurried import PIECE, unhurried

READERS = 2  # for each case, all of them at once
LONGEST_STAY = 15.0
MOST_PIECES = 1000
LARGEST = 3_000_000
EDITOR = "/admin/copilot_admin/copilot/{}/change/"
OPEN_TO_ALL = (
    *("/agents.json", "/copilots.json", "/openapi.json", "/admin/login/", "/v2/components"),
    *("/static/admin/css/base.css", "/static/copilot_admin/js/transcript-live.js", "/nowhere"),
)
_COPILOT = "SELECT id FROM copilot_admin_copilot WHERE slug = 'suggesting'"
_CONVERSATION = "SELECT MAX(id) FROM copilot_admin_conversation"


async def send(arena: Arena) -> None:
    """A large conversation is made; then its pages, and all others, are asked for and not taken."""
    text = "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * 20_000
    await arena.ask({"messages": [{"role": "human", "content": text}]}, slug="rehearsed")
    ((copilot,),) = arena.installed.query(_COPILOT)
    ((conversation,),) = arena.installed.query(_CONVERSATION)
    editor = EDITOR.format(copilot)
    async with person(arena.port) as builder:
        arena.statuses[await builder.log_in()] += 1
        fields = form_in(await builder.look(editor))
        cookie = builder.cookie
        pages = (
            *("/admin/", editor, f"/admin/copilot_admin/conversation/{conversation}/change/"),
            *(f"/admin/copilot_admin/copilot/{copilot}/export/", "/admin/jsi18n/"),
        )

        async def case(random: Random) -> None:
            if random.random() < 0.3:
                asked = _get(random.choice(OPEN_TO_ALL), "")
            elif random.random() < 0.5:
                asked = _get(random.choice(pages), cookie)
            else:
                asked = _refused_form(random, editor, fields, cookie)
            await _do_not_take(arena, random, asked)

        number = READERS * arena.cases
        await arena.each(case, at_once=number, times=number)


def _get(path: str, cookie: str) -> bytes:
    return head("GET", path, {"Cookie": cookie} if cookie else {})


def _refused_form(random: Random, path: str, fields: dict[str, str], cookie: str) -> bytes:
    """A draft that comes back as a page with all its text, which is longer there."""
    piece = random.choice(("x", '"', "<", "&", "\u5e74", "\U0001f600"))
    text = piece * (spread(random, 10_000, LARGEST) // len(piece.encode()))
    body = as_multipart({**fields, "system_prompt": text, "name": ""})
    length = {"Content-Length": str(len(body))}
    return head("POST", path, {**MULTIPART, "Cookie": cookie, **length}) + body


async def _do_not_take(arena: Arena, random: Random, asked: bytes) -> None:
    """Sends a request, and takes a few bytes now and then, or none."""
    arena.sent += 1
    pause = random.choice((0.05, 1.0, LONGEST_STAY))
    with suppress(ConnectionError, TimeoutError):
        async with unhurried(arena.port) as (reader, writer), asyncio.timeout(LONGEST_STAY):
            writer.write(asked)
            await writer.drain()
            for _ in range(MOST_PIECES):
                if not await reader.read(PIECE):
                    break
                await asyncio.sleep(pause)
