"""Usage of budgets is read from rollups and runs, so a restart gives no new budget."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from copilot_admin.limits import usage as usage_module
from copilot_admin.limits.rules import NANO, BudgetPeriod, LimitSubject, get_window
from copilot_admin.limits.usage import Budget, Usage, UsageCache, load_usage
from copilot_admin.models import Copilot, EndUser, LimitScope, Outcome, Run
from copilot_admin.storage.writer import Deadline
from copilot_admin.transcripts.store.rollups import Changes, Slot
from tests.factories import make_copilot, make_user
from tests.limits.limiting import ADDRESS, KEY, NOON, SERVER, USER, make_rule

DAY = datetime(2026, 3, 10, 9, tzinfo=UTC)


def count_run(copilot: Copilot, at: datetime = DAY, *, times: int = 1, **run: Any) -> None:
    numbers = Counter({"runs": times, run.pop("outcome", Outcome.COMPLETED): times})
    numbers["unpriced"] = times * (run.get("cost", 0) is None)
    numbers.update({name: number for name, number in run.items() if number})
    changes = Changes()
    changes.add(Slot(at, copilot.pk, 1, "m", ""), numbers)
    changes.save()


def make_run(copilot: Copilot, principal: str, at: datetime = DAY, **fields: object) -> None:
    Run.objects.create(**{
        "id": uuid4(), "copilot": copilot, "principal": principal, "started_at": at,
        "heartbeat_at": at, "outcome": Outcome.COMPLETED, "is_counted": True, **fields,
    })  # fmt: skip


def used_on(subject: LimitSubject, day: datetime = DAY, period: str = "day", zone=UTC):
    return load_usage(subject, get_window(BudgetPeriod(period), day, zone))


@pytest.mark.django_db
def test_usage_is_found_in_rollups_and_runs():
    first, second, builder = make_copilot(), make_copilot(), make_user()
    count_run(first, tokens=10, cost=Decimal("0.1"))
    count_run(first, DAY + timedelta(hours=14), tokens=20, cost=None)
    count_run(second, tokens=40, cost=Decimal("0.2"))
    count_run(first, DAY - timedelta(days=1), tokens=80, cost=Decimal("0.4"))
    count_run(first, outcome=Outcome.REFUSED, times=5)
    make_run(first, f"playground:{builder.pk}", input_tokens=3, output_tokens=4, cost=Decimal(1))
    make_run(first, "key:7", input_tokens=100, cost=Decimal(2))
    make_run(first, "key:7", output_tokens=11, cost=None)
    make_run(first, "key:7", cost=0, outcome=Outcome.REFUSED)
    make_run(first, "key:7", DAY - timedelta(days=1), input_tokens=1, cost=Decimal(2))
    make_run(first, "key:8", input_tokens=1, cost=Decimal(2))
    anna = EndUser.objects.create(identifier="anna", source="token", first_at=DAY, last_at=DAY)
    make_run(second, "key:8", input_tokens=1000, cost=Decimal(5), user=anna)
    make_run(second, "anonymous", output_tokens=1, cost=Decimal(1), user=anna)
    of_first = LimitSubject(LimitScope.COPILOT, str(first.pk))
    assert {
        subject.name.partition(":")[0]: used_on(subject)
        for subject in (of_first, SERVER, KEY, USER, LimitSubject(LimitScope.USER, "an"), ADDRESS)
    } == {
        "copilot": Usage(requests=2, tokens=37, nano_usd=NANO * 11 // 10, unpriced=1),
        "server": Usage(requests=3, tokens=77, nano_usd=NANO * 13 // 10, unpriced=1),
        "key": Usage(requests=2, tokens=111, nano_usd=2 * NANO, unpriced=1),
        "user": Usage(),
        "address": Usage(),
    }
    assert used_on(USER) == Usage(requests=2, tokens=1001, nano_usd=6 * NANO)
    assert used_on(of_first, period="month").tokens == 117
    # Midnight is at another hour: 23:00 UTC belongs to the next day there.
    berlin = ZoneInfo("Europe/Berlin")
    assert used_on(of_first, zone=berlin).requests == 1
    assert used_on(of_first, DAY + timedelta(days=1), zone=berlin).requests == 1


@pytest.mark.django_db
def test_runs_count_before_the_rollups_have_them():
    copilot, other = make_copilot(), make_copilot()
    count_run(copilot, tokens=1)
    make_run(copilot, "anonymous", tokens_of := DAY, input_tokens=5, cost=1, is_counted=False)
    make_run(copilot, "key:7", tokens_of, outcome=Outcome.RUNNING, is_counted=False)
    make_run(other, "key:7", input_tokens=7, cost=1, is_counted=False)
    subject = LimitSubject(LimitScope.COPILOT, str(copilot.pk))
    assert used_on(subject) == Usage(requests=3, tokens=6, nano_usd=NANO)
    assert used_on(SERVER) == Usage(requests=4, tokens=13, nano_usd=2 * NANO)
    assert used_on(subject, period="minute").tokens == 5
    assert used_on(SERVER, period="minute").tokens == 12


def test_usage_is_cached_and_what_ends_here_is_added(monkeypatch):
    now, loads = [100.0], []

    def load(*key: object) -> Usage:
        loads.append(key)
        return Usage(tokens=10)

    monkeypatch.setattr(usage_module, "load_usage", load)
    window = get_window(BudgetPeriod.DAY, NOON, UTC)
    tokens, money = (
        Budget(make_rule(**{key: 9}), window) for key in ("tokens_per_day", "usd_per_day")
    )
    cache = UsageCache(lambda: now[0])

    async def get(at: float, budget: Budget = tokens):
        now[0] = at
        return await cache.get(budget, Deadline())

    async def scenario() -> None:
        cache.add([tokens], Usage(tokens=1))  # nothing is cached yet
        assert await get(100) == Usage(tokens=10)
        cache.add([tokens, money], Usage(requests=1, tokens=5))
        assert await get(104.9, money) == Usage(requests=1, tokens=15)
        assert len(loads) == 1
        assert await get(105) == Usage(tokens=10)
        assert len(loads) == 2

    asyncio.run(scenario())
