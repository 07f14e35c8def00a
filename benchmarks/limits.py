"""Do limits hold for two workers and a thousand users, and what do they cost a question?

`python -m benchmarks.limits --users 1000`: users with keys ask more than they may, of two workers over
PostgreSQL and Redis; of each limit is told how many were let in. It fails where that is more than 2 %
off. `--cost` measures the CPU of a short question instead, without limits and with them, counted in the
process and in Redis. The Redis is that of TEST_REDIS_URL; what is in its database is lost.
"""

from argparse import ArgumentParser
import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
import json
import os
from statistics import median
import sys
from typing import Any

import redis
import uvloop

from benchmarks import servers
from benchmarks.client import Chat, ask, call
from benchmarks.processes import Process, away_from_the_server, running
from benchmarks.script import Script
from benchmarks.servers import POSTGRES, Deployment, Installation, Target, base_url, installation
from benchmarks.short import MANY, Chats, cost_of_a_question
from benchmarks.table import table

REDIS_URL = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/15")
OFF_BY = 0.02
SHORT, LONG = Script(chunks=2, every_ms=5), Script(chunks=8000, every_ms=25)
A_MINUTE, AT_ONCE, A_DAY = 5, 50, 300
# Of a stranger, what the settings say; of the copilot, all kinds that a file may have.
STRANGERS = {"COPILOT_ANONYMOUS_CONCURRENT": "100000", "COPILOT_ANONYMOUS_PER_MINUTE": "1000000"}
EVERYTHING = {
    "requests_per_minute": 10**6,
    "concurrent": 10**5,
    "tokens_per_day": 10**11,
    "usd_per_month": 10**5,
}
_PREPARE = """
import json
from copilot_admin.models import EndpointKey, LimitScope, SubjectLimits
SubjectLimits.objects.create(scope=LimitScope.KEY, limits={{"requests_per_minute": {a_minute}}})
print(json.dumps([EndpointKey.issue(f"user {{number}}")[1] for number in range({users})]))
"""


@dataclass(frozen=True, slots=True)
class Held:
    """How a limit held.

    Attributes:
        asked: How many asked for more than there was.
        most: How many were to be let in.
        let_in: How many were.
    """

    limit: str
    asked: int
    most: int
    let_in: int
    others: Mapping[int, int]

    @property
    def is_kept(self) -> bool:
        """Whether it is at most 2 % off, and nobody was told anything else."""
        return abs(self.let_in - self.most) <= OFF_BY * self.most and not self.others


def copilots(model_url: str, limits: Mapping[str, Mapping[str, float]]) -> dict[str, object]:
    """A copilot file with a copilot for each of some limits."""
    file: dict[str, Any] = servers.copilot_file(model_url)
    plain = file["copilots"][0]
    copies = [
        {**plain, "slug": slug, "name": slug, "limits": some} for slug, some in limits.items()
    ]
    return {**file, "copilots": copies}


def hold(users: int) -> list[Held]:
    """Lets users ask more than they may."""
    limits = {"bench": {}, "seats": {"concurrent": AT_ONCE}, "days": {"requests_per_day": A_DAY}}
    deployment = Deployment(POSTGRES, 2)
    with servers.upstream() as model:
        file = copilots(base_url(model), limits)
        variables = {"REDIS_URL": REDIS_URL}
        with installation(model, deployment, file=file, variables=variables) as installed:
            redis.Redis.from_url(REDIS_URL).flushdb()
            keys = json.loads(
                _in_django(installed, _PREPARE.format(a_minute=A_MINUTE, users=users))
            )
            with running(installed.start()) as process:
                return uvloop.run(_hold(process, keys))


def _in_django(installed: Installation, code: str) -> str:
    return installed.run("-c", f"import django; django.setup()\n{code}")


async def _hold(process: Process, keys: list[str]) -> list[Held]:
    plain, seats, days = (
        Target(process, f"/v1/copilots/{slug}/query") for slug in ("bench", "seats", "days")
    )
    at_once = await _at_once(seats, LONG, 3 * AT_ONCE)
    a_day = await _statuses(days, SHORT, [""] * 2 * A_DAY, together=20)
    # All of a user at once: on a busy machine all users together take longer than the minute.
    asked = [key for key in keys for _ in range(2 * A_MINUTE)]
    a_minute = await _statuses(plain, SHORT, asked, together=20)
    return [
        _held("answers at once, of a copilot", at_once, AT_ONCE),
        _held("requests a day, of a copilot", a_day, A_DAY),
        _held("requests a minute, of each user", a_minute, A_MINUTE * len(keys)),
    ]


def _held(limit: str, statuses: Counter[int], most: int) -> Held:
    others = {status: n for status, n in statuses.items() if status not in (200, 429)}
    return Held(limit, statuses.total(), most, statuses[200], others)


async def _at_once(target: Target, script: Script, number: int) -> Counter[int]:
    """What everybody is told who asks while the others are still answered."""
    lines = await asyncio.gather(*(call(target, script) for _ in range(number)))
    for line in lines:
        await asyncio.wait({line.began, line.ended}, return_when=asyncio.FIRST_COMPLETED)
    told = Counter(line.heard.status for line in lines)
    for line in lines:
        line.transport.abort()
    return told


async def _statuses(
    target: Target, script: Script, keys: Iterable[str], *, together: int
) -> Counter[int]:
    """What everybody is told; some at a time."""
    waiting = iter(keys)
    told: Counter[int] = Counter()

    async def one_after_the_other() -> None:
        for key in waiting:
            heard = await ask(target, script, chat=Chat(key=key))
            told[heard.status] += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(together):
            group.create_task(one_after_the_other())
    return told


def costs(chats: Chats, *, rounds: int) -> dict[str, float]:
    """Milliseconds of CPU of a short question; the servers take turns, the medians count."""
    cases = {
        "no limits": ({}, {}),
        "a stranger's": (STRANGERS, {}),
        "a stranger's and all of a copilot's": (STRANGERS, EVERYTHING),
        "no limits, Redis": ({"REDIS_URL": REDIS_URL}, {}),
        "a stranger's, Redis": ({**STRANGERS, "REDIS_URL": REDIS_URL}, {}),
        "a stranger's and all of a copilot's, Redis": (
            {**STRANGERS, "REDIS_URL": REDIS_URL},
            EVERYTHING,
        ),
    }
    found: dict[str, list[float]] = {name: [] for name in cases}
    for number in range(rounds):
        for name, (variables, limits) in cases.items():
            with servers.upstream() as model:
                file = copilots(base_url(model), {"bench": limits})
                with (
                    installation(model, file=file, variables=variables) as installed,
                    running(installed.start()) as process,
                ):
                    target = Target(process, Installation.path)
                    found[name].append(uvloop.run(_when_warm(target, chats)))
            print(f"round {number + 1}, {name}: {found[name][-1]:.2f} ms", flush=True)
    return {name: median(some) for name, some in found.items()}


async def _when_warm(target: Target, chats: Chats) -> float:
    await cost_of_a_question(target, replace(chats, chats=1))
    return await cost_of_a_question(target, chats)


def main(arguments: Sequence[str]) -> int:
    """The program; its exit status says whether every limit held."""
    parser = ArgumentParser(prog="python -m benchmarks.limits", description=__doc__)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(arguments)
    with away_from_the_server():
        if options.cost:
            found = costs(MANY, rounds=options.rounds)
            bare = found["no limits"]
            rows = [(name, f"{ms:.2f}", f"{ms - bare:+.2f}") for name, ms in found.items()]
            print(table([("limits", "CPU ms/short question", "more"), *rows]))
            return 0
        held = hold(options.users)
    told = [
        (one.limit, str(one.asked), str(one.most), str(one.let_in), "yes" if one.is_kept else "no")
        for one in held
    ]
    print(table([("limit", "asked", "may", "let in", "kept"), *told]))
    for one in held:
        if one.others:
            print(f"{one.limit}: others were told {dict(one.others)}")
    is_kept = all(one.is_kept for one in held)
    print("PASS" if is_kept else "FAIL")
    return int(not is_kept)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
