"""People who guess: passwords of accounts from many addresses, and endpoint keys."""

from random import Random

from benchmarks.script import Script
from benchmarks.walls.admin_pages import NAME, person
from benchmarks.walls.arena import JSON, LATER, Arena

AT_ONCE = 6
ACCOUNTS = ("admin", NAME, "root", "test@example.com", "\u00e4", "x" * 150)


async def send(arena: Arena) -> None:
    """Log-ins and keys in turns; nobody may get in."""

    async def case(random: Random) -> None:
        if random.random() < 0.5:
            await _log_in(arena, random)
        else:
            await _key(arena, random)

    await arena.each(case, at_once=AT_ONCE)


async def _log_in(arena: Arena, random: Random) -> None:
    """A guess from one of few addresses, which the server is told as by a proxy."""
    headers = {"X-Forwarded-For": _address(random)}
    async with person(arena.port) as guesser:
        status = await guesser.log_in(
            name=random.choice(ACCOUNTS), password=f"{random.getrandbits(64)}", headers=headers
        )
    arena.sent += 1
    arena.statuses[status] += 1
    if status not in (200, 429, LATER):
        arena.fault(f"{status} after a wrong password")


async def _key(arena: Arena, random: Random) -> None:
    guess = f"{random.getrandbits(128):x}" * random.choice((1, 1, 50))
    name, value = random.choice(
        (("X-API-Key", guess), ("Authorization", f"Bearer {guess}"), ("X-API-Key", ""))
    )
    reply = await arena.ask(
        Script(chunks=3, every_ms=0).body,
        slug="keyed",
        headers={**JSON, name: value, "X-Forwarded-For": _address(random)},
    )
    if reply.status not in (401, 429, LATER):
        arena.fault(f"{reply.status} after a wrong key")


def _address(random: Random) -> str:
    return f"203.0.113.{random.randint(1, 8)}"
