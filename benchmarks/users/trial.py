"""The whole trial: servers, users, comparisons, and the erasure of one of them."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
import json
from pathlib import Path
import tempfile
import time
from typing import Any

import redis
import uvloop

from benchmarks import servers
from benchmarks.processes import Process, running
from benchmarks.servers import Deployment, Installation, Target, base_url, installation
from benchmarks.stats import stats
from benchmarks.tokens import new_key, variables
from benchmarks.users import books, checks, erasing, rows
from benchmarks.users.checks import Check
from benchmarks.users.crowd import Asked, Crowd, Sizes, sizes_for
from benchmarks.users.people import ROOMY, Person, limits_of, people

PATIENCE_SECONDS = 60.0  # for the last answers to be counted
_SET_LIMITS = """
import json
from copilot_admin.models import EndpointKey, LimitScope, SubjectLimits
limits = json.loads({limits!r})
SubjectLimits.objects.bulk_create(
    SubjectLimits(scope=LimitScope.USER, subject=user, limits=some) for user, some in limits.items()
)
key, text = EndpointKey.issue("everybody's")
SubjectLimits.objects.create(
    scope=LimitScope.KEY, subject=str(key.pk), limits={{"requests_per_day": {of_key}}}
)
SubjectLimits.objects.create(scope=LimitScope.SERVER, limits=json.loads({roomy!r}))
print(text)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What is tried.

    Attributes:
        seconds: Within which everybody begins.
        redis_url: "": the workers count alone.
    """

    users: int
    seconds: float
    deployment: Deployment
    redis_url: str = ""
    seed: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of it.

    Attributes:
        seconds: From the first question to the last answer.
        cpu_ms: Of the server's processes, for each question.
    """

    checks: Sequence[Check]
    questions: int
    seconds: float
    cpu_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    asked: Sequence[Asked]
    metrics: str
    mixed: int
    seconds: float
    cpu_ms: float


def environment(trial: Trial) -> dict[str, str]:
    """Of a server that counts everything, and whose days do not end meanwhile."""
    return {
        "REDIS_URL": trial.redis_url,
        "COPILOT_METRICS_TOKEN": books.METRICS_TOKEN,
        "COPILOT_LOG_FORMAT": "json",
        "COPILOT_USER_IN_LOGS": "hashed",
        "COPILOT_USER_UPSTREAM": "plain",
        "COPILOT_BUDGET_ZONE": _zone_at_noon(),
    }


def try_all(trial: Trial) -> Outcome:
    """Lets everybody ask, compares, erases one."""
    key, sizes = new_key(), sizes_for(trial.users)
    some = people(trial.users, seed=trial.seed, key=key)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model = stack.enter_context(servers.upstream())
        installed = stack.enter_context(
            installation(
                model,
                trial.deployment,
                file=copilots(base_url(model), sizes),
                variables={**environment(trial), **variables(key, folder)},
            )
        )
        if trial.redis_url:
            redis.Redis.from_url(trial.redis_url).flushdb()
        endpoint_key = set_limits(installed, limits_of(some), of_key=sizes.of_key)
        with running(installed.start()) as process:
            loaded = uvloop.run(_load(process, model, some, sizes, trial.seconds, endpoint_key))
        print("statuses:", dict(Counter(one.status for one in loaded.asked)), flush=True)
        # The server has ended: what it still counted is written.
        found = list(_compared(installed, loaded, some, sizes))
        with running(installed.start()):
            victim = erasing.victim_of(some, loaded.asked)
            found += erasing.erase(installed, victim, loaded.asked, redis_url=trial.redis_url)
    return Outcome(
        checks=found,
        questions=len(loaded.asked),
        seconds=loaded.seconds,
        cpu_ms=loaded.cpu_ms,
    )


def set_limits(
    installed: Installation, limits: Mapping[str, Mapping[str, int]], *, of_key: int
) -> str:
    """Sets limits as the admin does; returns an endpoint key."""
    code = _SET_LIMITS.format(limits=json.dumps(limits), of_key=of_key, roomy=json.dumps(ROOMY))
    return installed.run("-c", f"import django; django.setup()\n{code}").strip()


async def _load(
    process: Process,
    model: Target,
    some: Sequence[Person],
    sizes: Sizes,
    seconds: float,
    key: str,
) -> _Loaded:
    crowd = Crowd(process, seconds, key)
    before, began = process.cpu_seconds(), time.monotonic()
    await crowd.come(some, sizes)
    took = time.monotonic() - began
    metrics = _settled_metrics(process, len(crowd.asked))
    cpu = process.cpu_seconds() - before
    return _Loaded(
        asked=crowd.asked,
        metrics=metrics,
        mixed=(await stats(model)).mixed,
        seconds=took,
        cpu_ms=cpu * 1000 / len(crowd.asked),
    )


def _settled_metrics(process: Process, asked: int) -> str:
    """The figures when all that was asked is counted, or patience is at its end."""
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        text = books.metrics_of(process)
        counted = books.of_metrics(text).outcomes.total()
        if counted >= asked or time.monotonic() > end:
            return text
        time.sleep(0.2)


def _compared(
    installed: Installation, loaded: _Loaded, some: Sequence[Person], sizes: Sizes
) -> Iterator[Check]:
    yield from checks.heard(loaded.asked)
    yield Check(what="prompts with the words of another user", wanted=0, found=loaded.mixed)
    yield from rows.whose(installed, loaded.asked)
    yield from rows.told(rows.transcripts(installed), loaded.asked)
    yield from checks.limits(loaded.asked, some, sizes)
    lines = books.lines_in(installed.log())
    all_books = (
        books.of_rows(installed),
        books.of_metrics(loaded.metrics),
        *(books.of_rollups(installed, one) for one in ("dailyusage", "dailytotal", "hourlyusage")),
        books.of_lines(lines),
    )
    yield from checks.agreement(loaded.asked, all_books)
    yield checks.same_users(
        "users of whom lines and rows count the same",
        books.users_of_rows(installed),
        books.users_of_lines(lines),
    )


def copilots(model_url: str, sizes: Sizes) -> dict[str, object]:
    """A copilot with room for everybody, one with few seats, one with few questions a day."""
    limits = {
        "bench": ROOMY,
        "seats": {"concurrent": sizes.seats},
        "days": {"requests_per_day": sizes.a_day},
    }
    file: dict[str, Any] = servers.copilot_file(model_url)
    (plain,) = file["copilots"]
    copies = [
        {**plain, "slug": slug, "name": slug, "limits": some} for slug, some in limits.items()
    ]
    return {**file, "copilots": copies}


def _zone_at_noon() -> str:
    """A zone in which it is about noon. `Etc/GMT+5` is five hours behind."""
    ahead = 12 - datetime.now(UTC).hour
    return f"Etc/GMT{-ahead:+d}" if ahead else "UTC"
