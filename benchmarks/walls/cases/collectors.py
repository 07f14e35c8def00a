"""Collectors of traces that answer without end, lie, stall, or send on to somebody else."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random

from benchmarks.processes import Process, running
from benchmarks.script import Script
from benchmarks.servers import Installation
from benchmarks.walls.arena import Arena, is_down

AT_ONCE = 4
QUESTIONS = 5  # for each case: traces leave every two seconds, whatever was asked meanwhile


@contextmanager
def stage(installed: Installation, strangers: int) -> Iterator[tuple[Process, None]]:
    """A server of its own, whose traces go to the server of strangers."""
    collector = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{strangers}"}
    traced = replace(installed, variables={**installed.variables, **collector})
    with running(traced.start()) as process:
        yield process, None


async def send(arena: Arena) -> None:
    """Short questions, each of which leaves a trace; none may notice where it goes."""

    async def case(random: Random) -> None:
        script = Script(chunks=random.randint(1, 50), every_ms=20)
        reply = await arena.ask(script.body, slug="bench")
        if not is_down(reply) and (reply.status != 200 or not reply.whole):
            arena.fault(f"{reply.status} while traces were taken badly, whole: {reply.whole}")

    await arena.each(case, at_once=AT_ONCE, times=QUESTIONS * arena.cases)
