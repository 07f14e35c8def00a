"""Copilot files that ask for more than they hold, brought by a builder."""

import json
from random import Random
from typing import Any

from benchmarks.walls.admin_pages import MULTIPART, as_multipart, form_in, person
from benchmarks.walls.arena import Arena, spread
from benchmarks.walls.sending import head

AT_ONCE = 2
MOST_COPILOTS = 9999
LARGEST = 12 * 2**20
PATH = "/admin/copilot_admin/copilot/import/"


async def send(arena: Arena) -> None:
    """Files of drawn kinds; what they would do is never carried out."""
    async with person(arena.port) as builder:
        arena.statuses[await builder.log_in()] += 1
        fields = form_in(await builder.look(PATH))
        headers = {**MULTIPART, "Cookie": builder.cookie}

        async def case(random: Random) -> None:
            file = random.choice(KINDS)(random)
            body = as_multipart(fields, files={"copilot_files": file})
            reply = await arena.post(PATH, body, headers=headers)
            plan = reply.headers.get("location", "")
            if plan:
                cookie = {"Cookie": builder.cookie}
                await arena.send(head("GET", plan, cookie))

        await arena.each(case, at_once=AT_ONCE)


def _copilots(random: Random) -> bytes:
    """Thousands of copilots, of one name or of many."""
    number, ends = spread(random, 100, MOST_COPILOTS), random.choice((1, 10, MOST_COPILOTS))
    copilots = [
        {"slug": f"c{one % ends}", "name": "C", "provider": "P", "model": "m"}
        for one in range(number)
    ]
    return _file(copilots)


def _aliases(random: Random) -> bytes:
    """A few lines of YAML that stand for very many values."""
    depth, width = random.randint(3, 30), random.randint(2, 30)
    rows = ["a0: &a0 [x, x]"]
    rows += [
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * width)}]"
        for level in range(1, depth)
    ]
    return ("\n".join(rows) + f"\ncopilots: *a{depth - 1}\n").encode()


def _deep(random: Random) -> bytes:
    opening = random.choice((b"[", b"{a: ", b'{"a":', b"- ", b"? ", b"!!python/object:os.system "))
    return opening * (spread(random, 1000, 1_000_000) // len(opening))


def _long(random: Random) -> bytes:
    """One text, where any has its place."""
    piece = random.choice(("x", "{{", "\u5e74", "\U0001f600", '"', "\n  "))
    text = piece * (spread(random, 10_000, LARGEST) // len(piece.encode()))
    key = random.choice(("system_prompt", "name", "slug", "description", "no_such_key"))
    return _file([{"slug": "c", "name": "C", "provider": "P", "model": "m", key: text}])


def _keys(random: Random) -> bytes:
    """Very many keys that nobody knows, also twice."""
    key = random.choice(("k", "k{}"))
    rows = (f"{key.format(one)}: x\n" for one in range(spread(random, 1000, 500_000)))
    return "".join(rows).encode()


def _noise(random: Random) -> bytes:
    return random.randbytes(spread(random, 1, LARGEST))


def _file(copilots: list[dict[str, Any]]) -> bytes:
    provider = {"name": "P", "kind": "rehearsal"}
    return json.dumps({"format": 1, "providers": [provider], "copilots": copilots}).encode()


KINDS = (_copilots, _copilots, _aliases, _deep, _long, _keys, _noise)
