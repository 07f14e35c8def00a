"""A thousand connections in one moment: short requests, many on one, and clients half gone."""

from random import Random

from benchmarks.script import Script
from benchmarks.walls.arena import JSON, Arena, spread
from benchmarks.walls.sending import head

CONNECTIONS = 25  # for each case, all of them in one moment
CASES = 10  # of a class that is bursts
PIPELINED = 300
PATHS = (
    *("/healthz", "/readyz", "/agents.json", "/copilots.json", "/admin/login/", "/nowhere"),
    *("/v2/components", "/openapi.json", "/admin/"),
)
QUESTIONS = 0.05  # of the requests
SCRIPT = Script(chunks=3, every_ms=5)


async def send(arena: Arena) -> None:
    """Some bursts, one after the other."""
    number = CONNECTIONS * arena.cases

    async def case(random: Random) -> None:
        kinds = (_short, _short, _short, _pipelined, _half_closed, _left)
        await random.choice(kinds)(arena, random)

    for _ in range(max(arena.cases // CASES, 1)):
        await arena.each(case, at_once=number, times=number)


async def _short(arena: Arena, random: Random) -> None:
    """One request, which costs next to nothing."""
    if random.random() < QUESTIONS:
        await arena.ask(SCRIPT.body, slug="bench")
    else:
        await arena.send(head("GET", random.choice(PATHS), {}))


async def _pipelined(arena: Arena, random: Random) -> None:
    """Requests of all kinds on one connection, sent before anything is answered."""
    number = spread(random, 2, PIPELINED)
    kept = b"".join(_kept_alive(random) for _ in range(number - 1))
    reply = await arena.send(kept + head("GET", "/healthz", {}))
    if not reply.status:
        arena.fault(f"{number} requests one after the other were not answered")


async def _half_closed(arena: Arena, random: Random) -> None:
    """A client that says all it has to say, and then only listens; it may be taken for one that left."""
    await arena.leave(head("GET", random.choice(PATHS), {}), half_closes=True)


async def _left(arena: Arena, random: Random) -> None:
    """A client that leaves before it can have its answer."""
    await arena.leave(head("GET", random.choice(PATHS), {}), patience=random.uniform(0, 0.2))


def _kept_alive(random: Random) -> bytes:
    length = {"Content-Length": str(len(SCRIPT.body))}
    if random.random() < QUESTIONS:
        asked = head("POST", "/v1/copilots/bench/query", {**JSON, **length}) + SCRIPT.body
    else:
        asked = head("GET", random.choice(PATHS), {})
    return asked.replace(b"Connection: close", b"Connection: keep-alive")
