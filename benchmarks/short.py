"""What a short question costs a server: an answer of ten chunks, and everything around it."""

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import median

import uvloop

from benchmarks import servers
from benchmarks.client import Chat, ask, wanted
from benchmarks.script import Script
from benchmarks.servers import MAKERS, Say, Target

SETTLE_SECONDS = 1.0
TURNS = 3  # of each server in a run
ANSWER = Script(chunks=10, every_ms=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """People who ask at the same time, each in one chat after the other.

    Attributes:
        people: How many they are.
        chats: Of each of them.
        questions: Of each chat, so that one in so many begins a conversation. The others repeat
            what was said before, as Workspace does.
        reading_seconds: Between an answer and the next question.
        script: Every answer.
        tokens: Of the people, in turns; empty: nobody names them.
    """

    people: int = 40
    chats: int = 3
    questions: int = 4
    reading_seconds: float = 0.25
    script: Script = ANSWER
    tokens: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """How many questions are asked of a server."""
        return self.people * self.chats * self.questions


MANY = Chats()


def measure(chats: Chats, *, runs: int, say: Say) -> dict[str, float]:
    """Milliseconds of CPU that each server needs for a short question; the medians count.

    The servers take turns, since what a question costs differs by a third from one minute to the
    next: most of the time a server waits, and others use the caches of its core meanwhile.
    """
    results: dict[str, list[float]] = {name: [] for name in MAKERS}
    for number in range(1, runs + 1):
        with ExitStack() as stack:
            model = stack.enter_context(servers.upstream())
            targets = {name: stack.enter_context(make(model)) for name, make in MAKERS.items()}
            for target in targets.values():
                uvloop.run(_hold(target, replace(chats, chats=1)))
            for turn in range(1, TURNS + 1):
                costs = {
                    name: uvloop.run(cost_of_a_question(target, chats))
                    for name, target in targets.items()
                }
                say(f"run {number}, turn {turn}: {_told(costs)}")
                for name, cost in costs.items():
                    results[name].append(cost)
    return {name: median(costs) for name, costs in results.items()}


def _told(costs: Mapping[str, float]) -> str:
    words = (f"{name} {ms:.2f}" for name, ms in costs.items())
    return f"{', '.join(words)} ms a short question"


async def cost_of_a_question(target: Target, chats: Chats) -> float:
    """Milliseconds of CPU; what a server puts off until it has answered counts as well."""
    before = target.process.cpu_seconds()
    await _hold(target, chats)
    await asyncio.sleep(SETTLE_SECONDS)
    return (target.process.cpu_seconds() - before) * 1000 / chats.total


async def _hold(target: Target, chats: Chats) -> None:
    """Holds all chats; people begin one after the other, so that they ask at different times."""
    between = (chats.script.seconds + chats.reading_seconds) / chats.people
    async with asyncio.TaskGroup() as group:
        for number in range(chats.people):
            token = chats.tokens[number % len(chats.tokens)] if chats.tokens else ""
            group.create_task(_person(target, chats, token))
            await asyncio.sleep(between)


async def _person(target: Target, chats: Chats, token: str) -> None:
    for _ in range(chats.chats):
        chat = Chat(token=token)
        for _ in range(chats.questions):
            wanted(await ask(target, chats.script, chat=chat), target, chats.script)
            chat.said.append(chats.script)
            await asyncio.sleep(chats.reading_seconds)
