"""CPU of a short question: an answer of ten chunks, and everything around it."""

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass, replace
from statistics import median

import uvloop

from benchmarks import servers
from benchmarks.client import Chat, ask
from benchmarks.script import Script
from benchmarks.servers import SERVERS, Say, Target

SETTLE_SECONDS = 1.0
TURNS = 3  # of each server in a run
ANSWER = Script(chunks=10, every_ms=15)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chats:
    """People who ask at the same time, each in one chat after the other.

    Each question repeats what was said before in its chat, as Workspace does.
    """

    people: int = 40
    chats: int = 3  # of each person
    questions: int = 4  # of each chat
    reading_seconds: float = 0.25  # between an answer and the next question
    script: Script = ANSWER


def measure(chats: Chats, *, runs: int, say: Say) -> dict[str, float]:
    """Return the median milliseconds of CPU that each server needs for a short question.

    The servers take turns: a question costs a third more in one minute than in another, since other
    processes use the caches of the core while a server waits.
    """
    results: dict[str, list[float]] = {name: [] for name in SERVERS}
    for number in range(1, runs + 1):
        with ExitStack() as stack:
            model = stack.enter_context(servers.upstream())
            targets = {name: stack.enter_context(make(model)) for name, make in SERVERS.items()}
            for target in targets.values():
                uvloop.run(_hold_chats(target, replace(chats, chats=1)))  # warm-up
            for turn in range(1, TURNS + 1):
                for name, target in targets.items():
                    cost = uvloop.run(_question_ms(target, chats))
                    say(f"run {number}, turn {turn}, {name}: {cost:.2f} ms a short question")
                    results[name].append(cost)
    return {name: median(costs) for name, costs in results.items()}


async def _question_ms(target: Target, chats: Chats) -> float:
    """Return milliseconds of CPU, including work that the server defers."""
    before = target.process.cpu_seconds()
    await _hold_chats(target, chats)
    await asyncio.sleep(SETTLE_SECONDS)
    questions = chats.people * chats.chats * chats.questions
    return (target.process.cpu_seconds() - before) * 1000 / questions


async def _hold_chats(target: Target, chats: Chats) -> None:
    """Hold all chats; people start one after the other, so that they ask at different times."""
    pause = (chats.script.seconds + chats.reading_seconds) / chats.people
    async with asyncio.TaskGroup() as group:
        for _ in range(chats.people):
            group.create_task(_ask_as_person(target, chats))
            await asyncio.sleep(pause)


async def _ask_as_person(target: Target, chats: Chats) -> None:
    for _ in range(chats.chats):
        chat = Chat()
        for _ in range(chats.questions):
            await ask(target, chats.script, chat=chat)
            chat.answered.append(chats.script)
            await asyncio.sleep(chats.reading_seconds)
