"""Requests are admitted by all of their limits or rejected by one; answers are charged."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime

from asgiref.sync import async_to_sync
import pytest

from copilot_admin.limits.admission import REJECTIONS, LimitExceeded
from copilot_admin.limits.counters import RATE_LIMITS, SLOTS
from copilot_admin.limits.rules import KINDS, NANO, LimitKind, LimitMeasure, get_window
from copilot_admin.limits.usage import USAGE_CACHE, Usage
from copilot_admin.models import LimitRejection, LimitScope
from tests.limits.limiting import ADDRESS, COPILOT, KEY, SERVER, USER, ask, limited, make_rule

CALLER = {"copilot_id": 3, "key_id": 7, "user": "anna", "address": ADDRESS.id}
OTHERS = {
    COPILOT: {"copilot_id": 4},
    KEY: {"key_id": 8},
    USER: {"user": "ben"},
    ADDRESS: {"address": "8.8.4.4"},
}
ANSWERS = {LimitMeasure.TOKENS: Usage(tokens=1), LimitMeasure.USD: Usage(nano_usd=NANO)}


def rejected(**identity: object) -> LimitExceeded:
    with pytest.raises(LimitExceeded) as caught:
        async_to_sync(ask)(**identity)
    return caught.value


def use_one(kind: LimitKind, number: int, **identity: object) -> None:
    """Use one of what a limit counts; an answer that is counted at its end ends."""
    admission = async_to_sync(ask)(f"{number}", **{**CALLER, **identity})
    if kind.measure is not LimitMeasure.CONCURRENT:
        async_to_sync(admission.end)(ANSWERS.get(kind.measure, Usage()))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        (subject, kind)
        for place, subject in enumerate((SERVER, COPILOT, KEY, USER, ADDRESS))
        for number, kind in enumerate(KINDS.values())
        if number % 5 == place
    ],
    ids=lambda one: getattr(one, "key", None) or one.name,
)
def test_a_limit_rejects_at_its_maximum_and_nobody_else(subject, kind):
    with limited({subject: {kind.key: 3}}):
        for number in range(3):
            use_one(kind, number)
        error = rejected(id="x", **CALLER)
        if subject in OTHERS:
            use_one(kind, 4, **OTHERS[subject])
    assert (error.status, error.code) == (429, "limit-reached")
    assert (error.rule.subject, error.rule.kind) == (subject, kind)
    now = datetime.now(UTC)
    seconds = (get_window(kind.period, now, UTC).ends - now).total_seconds() if kind.period else 5
    assert 1 <= error.retry_after <= max(seconds + 60, 60)


def test_a_slot_is_free_again_when_the_answer_has_ended():
    with limited({COPILOT: {"concurrent": 1}}):
        admission = async_to_sync(ask)("a")
        error = rejected(id="b")
        assert (error.retry_after, error.rule) == (5, make_rule(concurrent=1))
        for _ in range(2):  # the second does nothing
            async_to_sync(admission.end)()
        assert not admission.is_open
        async_to_sync(ask)("c")
        rejected(id="d")


def test_a_full_rate_takes_no_slot():
    with limited({COPILOT: {"requests_per_minute": 1, "concurrent": 5}}):
        async_to_sync(ask)("a")
        assert 1 <= rejected(id="b").retry_after <= 60
        assert async_to_sync(SLOTS.count)(make_rule(concurrent=5)) == 1


@pytest.mark.parametrize(
    ("previous", "current", "wait"),
    [((0, 0.0), (4, 75.0), 15), ((8, 30.0), (0, 120.0), 0), ((8, 45.0), (2, 90.0), 30),
     ((1, 20.0), (4, 80.0), 20)],
)  # fmt: skip
def test_a_full_rate_says_when_it_has_room(monkeypatch, previous, current, wait):
    async def get_window(_key: str, _seconds: int) -> tuple[int, float, int, float]:
        return (*previous, *current)

    monkeypatch.setattr(RATE_LIMITS._memory, "get_sliding_window", get_window)
    assert async_to_sync(RATE_LIMITS.get_wait_seconds)(make_rule(requests_per_minute=4)) == wait


def test_a_client_that_leaves_while_it_is_admitted_holds_no_slot(monkeypatch):
    async def scenario() -> None:
        waiting = asyncio.Event()

        async def never(_: object) -> bool:
            waiting.set()
            return bool(await asyncio.get_running_loop().create_future())

        monkeypatch.setattr(RATE_LIMITS, "hit", never)
        task = asyncio.ensure_future(ask("a"))
        await waiting.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    with limited({COPILOT: {"requests_per_minute": 1, "concurrent": 5}}):
        asyncio.run(scenario())
    assert SLOTS._held == {}


@pytest.mark.django_db(transaction=True)
def test_an_answer_of_unknown_cost_uses_no_money_and_is_counted():
    with limited({COPILOT: {"usd_per_month": 1}}):
        admission = async_to_sync(ask)("a")
        assert admission.counts_money
        async_to_sync(admission.end)(Usage(tokens=99, unpriced=1))
        async_to_sync(ask)("b")
    [(_, usage)] = USAGE_CACHE._found.values()
    assert usage == Usage(requests=2, tokens=99, unpriced=1)


@pytest.mark.django_db(transaction=True)
def test_a_trial_is_no_request_of_a_budget():
    with limited({SERVER: {"requests_per_day": 2, "tokens_per_day": 9}}):
        async_to_sync(ask)("a")
        async_to_sync(ask)("b", is_answered=False)
        assert rejected(id="c").rule.kind.key == "requests_per_day"
        async_to_sync(async_to_sync(ask)("d", is_trial=True).end)(Usage(tokens=9))
        assert rejected(id="e", is_trial=True).rule.kind.key == "tokens_per_day"


@pytest.mark.django_db(transaction=True)
class TestRejections:
    """Rejections are stored by the minute, for all workers."""

    def reject(self, number: int = 1, **identity: object) -> None:
        for _ in range(number):
            rejected(**{**CALLER, **identity})

    def load(self) -> list[tuple[str, str, str, int]]:
        async_to_sync(REJECTIONS.store)()
        rows = LimitRejection.objects.order_by("pk")
        return list(rows.values_list("scope", "subject", "kind", "number"))

    def test_one_row_counts_those_of_a_minute(self):
        with limited({ADDRESS: {"requests_per_day": 0}, KEY: {"concurrent": 0}}):
            self.reject(3)
            assert self.load() == [("address", ADDRESS.id, "requests_per_day", 3)]
            LimitRejection.objects.update(minute=datetime.now(UTC).replace(second=0, microsecond=0))
            self.reject(2)
            self.reject(address="", user="")
        rows = self.load()
        assert sum(number for scope, *_, number in rows if scope == "address") == 5
        assert rows[-1] == ("key", "7", "concurrent", 1)

    @pytest.mark.parametrize(("subject", "id"), [(USER, ""), (ADDRESS, ""), (KEY, "7")])
    def test_callers_of_a_copilot_that_logs_nothing_are_not_named(self, subject, id):
        with limited({subject: {"requests_per_day": 0}}):
            self.reject(is_recorded=False)
        assert self.load() == [(subject.scope.value, id, "requests_per_day", 1)]

    def test_rows_are_bounded_in_age_and_number(self, monkeypatch):
        monkeypatch.setattr("copilot_admin.limits.admission.MAX_ROWS", 2)
        fields = {"scope": LimitScope.KEY, "kind": "concurrent", "number": 1}
        old, now = datetime(2020, 1, 1, tzinfo=UTC), datetime.now(UTC)
        LimitRejection.objects.create(**fields, minute=old, last_at=old)
        for subject in "abc":
            LimitRejection.objects.create(**fields, subject=subject, minute=now, last_at=now)
        with limited({SERVER: {"concurrent": 0}}):
            self.reject()
        assert [subject for _, subject, *_ in self.load()] == ["c", ""]
