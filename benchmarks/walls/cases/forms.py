"""Large forms of the admin, with a log-in and without, several at once, and refused by the dozen."""

from collections.abc import Mapping
from random import Random
from typing import Any
from urllib.parse import quote_plus

from benchmarks.walls.admin_pages import MULTIPART, as_multipart, form_in, person
from benchmarks.walls.arena import Arena, spread

AT_ONCE = 6
LARGEST = 19_000_000
MOST_FIELDS = 4900
REFUSED = 4  # forms for each case that are refused, as they come from nobody
ENCODED = {"Content-Type": "application/x-www-form-urlencoded"}
PIECES = (
    "x",
    '"',
    "<",
    "%",
    "\u00e4",
    "\u5e74",
    "\U0001f600",
    " ",
    "\x00",
    "a" * 100 + "\U0001f600",
)
EDITOR = "/admin/copilot_admin/copilot/{}/change/"
PATHS = (
    *("/admin/login/", "/admin/", "/admin/copilot_admin/copilot/add/", "/admin/password-reset/"),
    *("/admin/copilot_admin/copilot/import/", "/nowhere", "/admin/jsi18n/"),
)
_COPILOT = "SELECT id FROM copilot_admin_copilot WHERE slug = 'suggesting'"


async def send(arena: Arena) -> None:
    """Those of a builder beside those of nobody; then nothing but refused ones."""
    ((copilot,),) = arena.installed.query(_COPILOT)
    editor = EDITOR.format(copilot)
    async with person(arena.port) as builder:
        arena.statuses[await builder.log_in()] += 1
        fields = form_in(await builder.look(editor))
        session = {"Cookie": builder.cookie}

        async def case(random: Random) -> None:
            if random.random() < 0.5:
                await _post(arena, random, editor, fields, session)
            else:
                await _post(arena, random, random.choice(PATHS), {}, {})

        async def refused(random: Random) -> None:
            await _post(arena, random, random.choice(PATHS), {}, {})

        await arena.each(case, at_once=AT_ONCE)
        await arena.each(refused, at_once=2 * AT_ONCE, times=REFUSED * arena.cases)


async def _post(
    arena: Arena,
    random: Random,
    path: str,
    fields: Mapping[str, Any],
    session: Mapping[str, str],
) -> None:
    filled = {**fields, **_drawn_fields(random)}
    if random.random() < 0.3:
        body = "&".join(f"{name}={quote_plus(str(value))}" for name, value in filled.items())
        await arena.post(path, body.encode()[:LARGEST], headers={**ENCODED, **session})
    else:
        await arena.post(path, as_multipart(filled), headers={**MULTIPART, **session})


def _drawn_fields(random: Random) -> dict[str, str]:
    """One long text, a few, or thousands of short ones."""
    size, piece = spread(random, 100_000, LARGEST), random.choice(PIECES)
    name = random.choice(("system_prompt", "username", "description", "next"))
    text = piece * (size // len(piece.encode()))
    match random.randrange(3):
        case 0:
            return {name: text}
        case 1:
            part = len(text) // 6
            return {f"{name}{number}": text[:part] for number in range(6)}
        case _:
            number = spread(random, 10, MOST_FIELDS)
            return {f"{name}{one}": text[: len(text) // number] for one in range(number)}
