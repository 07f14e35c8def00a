"""Large forms of the admin, with a log-in and without, several at once, and refused by the dozen.

Some are made of what nearly is, or is, their own delimiter, and go beyond what is kept of a form.
"""

from collections.abc import Mapping
from random import Random
from typing import Any
from urllib.parse import quote_plus

from benchmarks.walls.admin_pages import as_multipart, form_in, multipart_type, person
from benchmarks.walls.arena import Arena, spread

AT_ONCE = 6
LARGEST = 19_000_000
BEYOND = 60_000_000  # three times what is kept of a form
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
# RFC 2046, 5.1.1: what a boundary may be made of, and how long it may be.
BOUNDARY_LETTERS = "ab019'()+_,-./:=?"
LONGEST_BOUNDARY = 70
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
    boundary = drawn_boundary(random)
    if random.random() < 0.3:
        body = drawn_delimiters(random, boundary)
        await arena.post(path, body, headers={**multipart_type(boundary), **session})
        return
    filled = {**fields, **_drawn_fields(random)}
    if random.random() < 0.3:
        text = "&".join(f"{name}={quote_plus(str(value))}" for name, value in filled.items())
        await arena.post(path, text.encode()[:LARGEST], headers={**ENCODED, **session})
    else:
        body = as_multipart(filled, boundary=boundary)
        await arena.post(path, body, headers={**multipart_type(boundary), **session})


def drawn_boundary(random: Random) -> bytes:
    """A boundary: one letter, one again and again, or many."""
    size = random.choice((1, 2, random.randint(3, LONGEST_BOUNDARY), LONGEST_BOUNDARY))
    letters = random.choice((random.choice(BOUNDARY_LETTERS), BOUNDARY_LETTERS))
    return "".join(random.choices(letters, k=size)).encode()


def drawn_delimiters(random: Random, boundary: bytes) -> bytes:
    """A body of one piece again and again, perhaps with large files behind it."""
    delimiter = b"\r\n--" + boundary
    head = delimiter + b'\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n'
    piece = random.choice(
        (
            *(delimiter, delimiter + b"a\r\n\r\n", delimiter + b"xy", delimiter[:-1] + b"~"),
            *(head + b"\r\n", head, b"\r\n", b"--", b"\r\n\r\n", boundary),
        )
    )
    start = random.choice((b"", delimiter + b"\r\n\r\n", head, head + b"\r\n"))
    end = random.choice((b"", delimiter + b"--\r\n"))
    files = random.choice((0, 0, 1, 3)) * (head + b"\r\n" + b"z" * (LARGEST // 2))
    size = spread(random, 100_000, BEYOND - len(files))
    return start + piece * (size // len(piece)) + files + end


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
