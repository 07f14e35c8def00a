"""What a question of a thousand users costs: of nobody, with tokens, and with limits of each."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
import tempfile

import redis
import uvloop

from benchmarks import servers
from benchmarks.processes import Process, running
from benchmarks.servers import Say, Target, base_url, installation
from benchmarks.tokens import new_key, variables
from benchmarks.users.crowd import Crowd, sizes_for
from benchmarks.users.people import Habit, Person, limits_of, people
from benchmarks.users.trial import Trial, copilots, environment, set_limits

SETTLE_SECONDS = 1.0
NOBODY, TOKENS, LIMITS = "nobody, no limits", "users with tokens", "users with tokens and limits"


@dataclass(frozen=True, slots=True)
class _Case:
    process: Process
    people: tuple[Person, ...]
    redis_url: str = ""


def costs(trial: Trial, *, rounds: int, say: Say) -> list[tuple[str, str, str]]:
    """Rows of a table; servers of all kinds run at once and take turns with the same load."""
    found: dict[str, list[float]] = {NOBODY: [], TOKENS: [], LIMITS: []}
    with servers.upstream() as model, ExitStack() as stack:
        cases = {name: stack.enter_context(_serving(name, trial, model)) for name in found}
        for case in cases.values():
            uvloop.run(_cost(replace(case, people=case.people[:40]), seconds=2))
        for number in range(rounds):
            for name in list(found)[:: 1 if number % 2 else -1]:
                found[name].append(uvloop.run(_cost(cases[name], seconds=trial.seconds)))
                say(f"round {number + 1}, {name}: {found[name][-1]:.2f} ms")
    bare = median(found[NOBODY])
    medians = {name: median(some) for name, some in found.items()}
    return [(name, f"{ms:.2f}", f"{ms - bare:+.2f}") for name, ms in medians.items()]


@contextmanager
def _serving(name: str, trial: Trial, model: Target) -> Iterator[_Case]:
    key = None if name == NOBODY else new_key()
    some = tuple(replace(one, habit=Habit.CALM) for one in people(trial.users, seed=1, key=key))
    is_limited = name == LIMITS
    with tempfile.TemporaryDirectory() as folder:
        env: Mapping[str, str] = {
            **environment(trial),
            "REDIS_URL": trial.redis_url if is_limited else "",
            **(variables(key, Path(folder)) if key else {}),
        }
        file = copilots(base_url(model), sizes_for(trial.users)) if is_limited else None
        with installation(model, trial.deployment, file=file, variables=env) as installed:
            if is_limited:
                set_limits(installed, limits_of(some), of_key=1)
            with running(installed.start()) as process:
                yield _Case(process, some, env["REDIS_URL"])


async def _cost(case: _Case, *, seconds: float) -> float:
    """Milliseconds of CPU of the server's processes and of Redis, for each question."""
    crowd = Crowd(case.process, seconds, is_traced=True)
    before = case.process.cpu_seconds() + _redis_seconds(case.redis_url)
    await crowd.come(case.people, None)
    await asyncio.sleep(SETTLE_SECONDS)
    used = case.process.cpu_seconds() + _redis_seconds(case.redis_url) - before
    refused = [one.status for one in crowd.asked if one.status != 200]
    if refused:
        raise RuntimeError(f"{len(refused)} of {len(crowd.asked)} were told {refused[0]}")
    return used * 1000 / len(crowd.asked)


def _redis_seconds(address: str) -> float:
    if not address:
        return 0.0
    about = redis.Redis.from_url(address).info("cpu")
    return float(about["used_cpu_user"]) + float(about["used_cpu_sys"])
