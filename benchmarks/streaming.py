"""CPU of a streamed chunk, time of the first words and memory, of each server on one upstream."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from statistics import median

import uvloop

from benchmarks import servers
from benchmarks.client import Reply, ask, count_chunks
from benchmarks.processes import Noise
from benchmarks.script import Script
from benchmarks.servers import SERVERS, Say, Target
from benchmarks.short import Chats

SETTLE_SECONDS = 1.0
ANSWER = Script(chunks=300, every_ms=15)
SLOW_ANSWER = Script(chunks=200, every_ms=60)  # as many chunks a second from five times the streams


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The load of each measurement."""

    runs: int = 3
    streams: int = 40
    script: Script = ANSWER
    rounds: int = 2  # of streams, to measure CPU
    starts: int = 100  # of short answers, to measure the time of the first words
    starts_per_second: float = 5.0
    crowd: int = 200  # streams at once, to measure memory
    crowd_script: Script = SLOW_ANSWER
    chats: Chats = field(default_factory=Chats)


QUICK = Plan(
    runs=1,
    streams=5,
    script=Script(chunks=30, every_ms=10),
    rounds=1,
    starts=5,
    starts_per_second=10,
    crowd=10,
    crowd_script=Script(chunks=10, every_ms=20),
    chats=Chats(people=5, chats=1, reading_seconds=0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """The figures of one server."""

    cpu_us: float  # of the server, for each chunk of the upstream
    first_p50_ms: float  # added to the first words, compared with the upstream alone
    first_p99_ms: float
    peak_mb: float  # resident, with the crowd
    noise: float  # share of the server's core that other processes took, 0 to 1

    def __str__(self) -> str:
        return (
            f"{self.cpu_us:.1f} us a chunk, first words +{self.first_p50_ms:.1f} ms (p50) "
            f"+{self.first_p99_ms:.1f} ms (p99), {self.peak_mb:.0f} MB, "
            f"others took {self.noise:.0%} of the core"
        )


def measure(plan: Plan, *, say: Say) -> dict[str, Measurement]:
    """Measure the servers in turns and return the medians of all runs."""
    results: dict[str, list[Measurement]] = {name: [] for name in SERVERS}
    for number in range(1, plan.runs + 1):
        with servers.upstream() as model:
            direct = uvloop.run(_first_words(model, plan))
            say(f"run {number}, upstream alone: first words after {_ms(direct, 50):.1f} ms")
            for name, make in SERVERS.items():
                with make(model) as target:
                    result = uvloop.run(_measure(target, model, plan=plan, direct=direct))
                say(f"run {number}, {name}: {result}")
                results[name].append(result)
    return {name: _median(measured) for name, measured in results.items()}


async def _measure(
    target: Target, model: Target, *, plan: Plan, direct: Sequence[float]
) -> Measurement:
    await _crowd(target, streams=plan.streams, script=replace(plan.script, chunks=10))  # warm-up
    noise = Noise(target.process)
    cpu = await _cpu_seconds(target, model, plan=plan)
    share = noise.share()
    first = await _first_words(target, plan)
    await _crowd(target, streams=plan.crowd, script=plan.crowd_script)
    return Measurement(
        cpu_us=cpu * 1e6,
        first_p50_ms=_ms(first, 50) - _ms(direct, 50),
        first_p99_ms=_ms(first, 99) - _ms(direct, 99),
        peak_mb=target.process.peak_bytes() / 1e6,
        noise=share,
    )


async def _cpu_seconds(target: Target, model: Target, *, plan: Plan) -> float:
    """Return the seconds of CPU for each chunk."""
    chunks, spent = await count_chunks(model), target.process.cpu_seconds()
    for _ in range(plan.rounds):
        await _crowd(target, streams=plan.streams, script=plan.script)
    spent = target.process.cpu_seconds() - spent
    return spent / (await count_chunks(model) - chunks)


async def _first_words(target: Target, plan: Plan) -> list[float]:
    """Return the seconds to the first words of answers that start while others are streamed."""
    every, pause = plan.script.every_ms, 1 / plan.starts_per_second
    seconds = plan.starts * pause + 2 * SETTLE_SECONDS
    background = Script(chunks=int(seconds * 1000 / every), every_ms=every)
    async with asyncio.TaskGroup() as group:
        group.create_task(_crowd(target, streams=plan.streams, script=background))
        await asyncio.sleep(SETTLE_SECONDS)
        probes = []
        for _ in range(plan.starts):
            probes.append(group.create_task(ask(target, Script(chunks=20, every_ms=every))))
            await asyncio.sleep(pause)
    return [probe.result().first_words or float("inf") for probe in probes]


async def _crowd(target: Target, *, streams: int, script: Script) -> list[Reply]:
    """Ask the same many times at once; starts are spread over the time between two chunks."""
    pause = script.every_ms / 1000 / streams
    async with asyncio.TaskGroup() as group:
        tasks = []
        for _ in range(streams):
            tasks.append(group.create_task(ask(target, script)))
            await asyncio.sleep(pause)
    return [task.result() for task in tasks]


def _ms(seconds: Sequence[float], percent: int) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) * percent // 100, len(ordered) - 1)] * 1000


def _median(measured: Sequence[Measurement]) -> Measurement:
    return Measurement(
        **{
            one.name: median(getattr(result, one.name) for result in measured)
            for one in fields(Measurement)
        }
    )
