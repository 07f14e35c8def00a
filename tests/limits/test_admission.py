"""A request is let in by all of its limits or told which one is reached; its answer is charged."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
import logging
from types import SimpleNamespace
from uuid import uuid4
from zoneinfo import ZoneInfo

from asgiref.sync import async_to_sync
import pytest

from copilot_admin.limits import near_limits
from copilot_admin.limits.admission import Admission, LimitExceeded, charge_trial
from copilot_admin.limits.book import BOOK, Book, limits_changed
from copilot_admin.limits.counting import COUNTING
from copilot_admin.limits.demand import Budget, Charge, DemandAnswer
from copilot_admin.limits.rules import NANO, LimitRule
from copilot_admin.limits.spent import spent
from copilot_admin.limits.subjects import Asking, LimitSubject
from copilot_admin.limits.windows import BudgetPeriod, window_at
from copilot_admin.models import Copilot, EndUser, LimitScope, Outcome, Run, SubjectLimits
from copilot_admin.transcripts.store.usage import CountedRun, UsageKey, count
from tests.factories import make_copilot, make_user
from tests.limits.limiting import COPILOT, SERVER, ask, limited, rule

KEY = LimitSubject(LimitScope.KEY, "7")


def refused(**asking: object) -> LimitExceeded:
    with pytest.raises(LimitExceeded) as caught:
        async_to_sync(ask)(**asking)
    return caught.value


def test_without_limits_nothing_is_counted():
    admission = async_to_sync(ask)()
    assert (admission, admission.is_open, admission.counts_money) == (Admission(), False, False)
    async_to_sync(admission.end)(Charge(tokens=5))


def test_a_seat_is_free_again_when_the_answer_has_ended():
    with limited({COPILOT: {"concurrent": 1}}):
        admission = async_to_sync(ask)("a")
        error = refused(id="b")
        assert (error.status, error.code, error.retry_after) == (429, "limit-reached", 5)
        assert error.rule == rule(concurrent=1)
        assert admission.is_open
        async_to_sync(admission.end)()
        async_to_sync(admission.end)()
        assert not admission.is_open
        async_to_sync(ask)("c")
        refused(id="d")


def test_a_rate_that_refuses_gives_back_what_was_taken_and_is_not_asked_again(monkeypatch):
    asked: list[LimitRule] = []
    hit = COUNTING.hit

    async def noted(one: LimitRule) -> object:
        asked.append(one)
        return await hit(one)

    monkeypatch.setattr(COUNTING, "hit", noted)
    with limited({COPILOT: {"requests_per_minute": 1, "concurrent": 5}}):
        async_to_sync(ask)("a")
        first, second = refused(id="b"), refused(id="c")
    assert len(asked) == 2
    assert 59 <= second.retry_after <= first.retry_after <= 60
    assert COUNTING.own.taken(rule(concurrent=5)) == 1


def test_a_seat_is_given_back_whose_taker_did_not_wait_for_the_answer(monkeypatch):
    async def scenario() -> list[tuple[str, tuple[LimitRule, ...]]]:
        asked = asyncio.Event()
        abandoned: list[tuple[str, tuple[LimitRule, ...]]] = []

        async def never(_: object) -> DemandAnswer:
            asked.set()
            await asyncio.get_running_loop().create_future()
            return DemandAnswer()

        monkeypatch.setattr(COUNTING, "enter", never)
        monkeypatch.setattr(COUNTING, "abandon", lambda id, seats: abandoned.append((id, seats)))
        task = asyncio.ensure_future(ask("a"))
        await asked.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        return abandoned

    with limited({COPILOT: {"concurrent": 5}}):
        assert asyncio.run(scenario()) == [("a", (rule(concurrent=5),))]


def test_whoever_leaves_while_he_is_let_in_keeps_no_seat(monkeypatch):
    async def scenario() -> None:
        asked = asyncio.Event()

        async def never(one: LimitRule) -> bool:
            asked.set()
            await asyncio.get_running_loop().create_future()
            return True

        monkeypatch.setattr(COUNTING, "hit", never)
        task = asyncio.ensure_future(ask("a"))
        await asked.wait()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    with limited({COPILOT: {"requests_per_minute": 1, "concurrent": 5}}):
        asyncio.run(scenario())
    assert COUNTING.own.taken(rule(concurrent=5)) == 0
    assert COUNTING._held == {}


@pytest.mark.django_db(transaction=True)
class TestBudgets:
    """Of a day and a month; what was used is looked up once."""

    def test_an_answer_is_charged_at_its_end_and_the_next_is_refused(self):
        with limited({COPILOT: {"tokens_per_day": 100, "usd_per_month": 1}}):
            admission = async_to_sync(ask)("a")
            assert admission.counts_money
            async_to_sync(admission.end)(Charge(tokens=99, nano_usd=NANO - 1))
            admission = async_to_sync(ask)("b")
            async_to_sync(admission.end)(Charge(tokens=1))
            error = refused(id="c")
        now = datetime.now(UTC)
        midnight = window_at(BudgetPeriod.DAY, now, UTC).ends
        assert error.rule.kind.key == "tokens_per_day"
        assert abs(error.retry_after - (midnight - now).total_seconds()) < 60
        assert "used up its tokens of today. Ask again " in error.public

    def test_what_a_trial_takes_beside_its_answer_is_charged_to_server_and_copilot(self):
        with limited({SERVER: {"tokens_per_day": 9}, COPILOT: {"usd_per_month": 1}}):
            async_to_sync(ask)("a", is_trial=True)  # so that the counters know of them
            async_to_sync(charge_trial)(3, Charge(tokens=0, nano_usd=NANO - 1))
            async_to_sync(ask)("b")
            async_to_sync(charge_trial)(3, Charge(tokens=9, nano_usd=1))
            assert refused(id="c").rule.kind.key == "usd_per_month"
            assert refused(id="d", copilot_id=4).rule.kind.key == "tokens_per_day"

    def test_an_answer_of_unknown_cost_uses_up_no_money_and_is_counted_as_such(self):
        with limited({COPILOT: {"usd_per_month": 1}}):
            admission = async_to_sync(ask)("a")
            async_to_sync(admission.end)(Charge(tokens=99, nano_usd=None))
            async_to_sync(ask)("b")
            [budget] = admission.demand.budgets
        assert COUNTING.own.known([budget.key, budget.unpriced_key]) == {
            budget.key: 0,
            budget.unpriced_key: 1,
        }

    def test_requests_of_a_day_are_counted_when_they_come(self):
        with limited({SERVER: {"requests_per_day": 2}}):
            async_to_sync(ask)("a")
            async_to_sync(ask)("b", is_answered=False)
            assert refused(id="c").rule.kind.key == "requests_per_day"
            async_to_sync(ask)("d", is_trial=True)

    def test_a_restart_gives_no_new_budget(self):
        copilot = make_copilot()
        used_by(copilot, tokens=100, cost=Decimal("0.5"))
        with limited({LimitSubject(LimitScope.COPILOT, str(copilot.pk)): {"tokens_per_day": 100}}):
            assert refused(id="a", copilot_id=copilot.pk).rule.kind.key == "tokens_per_day"


def used_by(copilot: Copilot, at: datetime | None = None, **counted: object) -> None:
    asked = UsageKey(
        at=at or datetime.now(UTC), copilot_id=copilot.pk, version=1, model="m", principal="key:7"
    )
    count(asked, CountedRun(outcome=Outcome.COMPLETED, **counted))  # type: ignore[arg-type]


def budget_of(subject: LimitSubject, at: datetime, zone: object = UTC, **limits: object) -> Budget:
    one = rule(subject, **limits)
    return Budget(one, window_at(one.kind.period, at, zone))  # type: ignore[arg-type]


def run_of(copilot: Copilot, principal: str, at: datetime, **changes: object) -> Run:
    fields = {
        "id": uuid4(), "copilot": copilot, "principal": principal, "started_at": at,
        "heartbeat_at": at, "outcome": Outcome.COMPLETED, **changes,
    }  # fmt: skip
    return Run.objects.create(**fields)


@pytest.mark.database
def spent_of(budget: Budget) -> tuple[int, int]:
    return spent([budget])[budget]


@pytest.mark.django_db
def test_what_budgets_of_one_user_have_in_common_is_read_once(django_assert_num_queries):
    day = datetime(2026, 3, 10, 9, tzinfo=UTC)
    anna = LimitSubject(LimitScope.USER, "anna")
    kinds = ("tokens_per_day", "usd_per_day", "requests_per_day", "tokens_per_minute")
    budgets = [budget_of(anna, day, **{kind: 1}) for kind in kinds]
    with django_assert_num_queries(1):
        assert spent(budgets) == dict.fromkeys(budgets, (0, 0))


@pytest.mark.django_db
def test_what_was_used_is_found_in_the_figures_and_the_runs():
    day, first, second = datetime(2026, 3, 10, 9, tzinfo=UTC), make_copilot(), make_copilot()
    builder = make_user()
    used_by(first, day, tokens=10, cost=Decimal("0.1"))
    used_by(first, day + timedelta(hours=14), tokens=20, cost=None)
    used_by(second, day, tokens=40, cost=Decimal("0.2"))
    used_by(first, day - timedelta(days=1), tokens=80, cost=Decimal("0.4"))
    asked = UsageKey(at=day, copilot_id=first.pk, version=1, model="m", principal="key:7")
    count(asked, CountedRun(outcome=Outcome.REFUSED), times=5)
    run_of(first, f"playground:{builder.pk}", day, input_tokens=3, output_tokens=4, cost=Decimal(1))
    run_of(first, "key:7", day, input_tokens=100, cost=Decimal(2))
    run_of(first, "key:7", day, output_tokens=11, cost=None)
    run_of(first, "key:7", day, cost=None, outcome=Outcome.RUNNING)
    run_of(first, "key:7", day, cost=0, outcome=Outcome.REFUSED)
    run_of(first, "key:7", day - timedelta(days=1), input_tokens=1, cost=Decimal(2))
    run_of(first, "key:8", day, input_tokens=1, cost=Decimal(2))
    of_first = LimitSubject(LimitScope.COPILOT, str(first.pk))
    anna = EndUser.objects.create(identifier="anna", source="token", first_at=day, last_at=day)
    run_of(second, "key:8", day, input_tokens=1000, cost=Decimal(5), user=anna)
    run_of(second, "anonymous", day, output_tokens=1, cost=Decimal(1), user=anna)
    run_of(second, "anonymous", day - timedelta(days=1), output_tokens=2, user=anna)
    users = {
        key: spent_of(budget_of(LimitSubject(LimitScope.USER, "anna"), day, **{key: 1}))
        for key in ("tokens_per_day", "usd_per_day", "requests_per_day")
    }
    assert users == {
        "tokens_per_day": (1001, 0),
        "usd_per_day": (6 * NANO, 0),
        "requests_per_day": (2, 0),
    }
    assert spent_of(budget_of(LimitSubject(LimitScope.USER, "an"), day, tokens_per_day=1)) == (0, 0)

    found = {
        (subject.name.split(":")[0], key): spent_of(budget_of(subject, day, **{key: 1}))
        for subject in (of_first, SERVER, KEY)
        for key in ("tokens_per_day", "usd_per_day", "requests_per_day")
    }
    assert found == {
        ("copilot", "tokens_per_day"): (37, 1),
        ("copilot", "usd_per_day"): (NANO * 11 // 10, 1),
        ("copilot", "requests_per_day"): (2, 1),
        ("server", "tokens_per_day"): (77, 1),
        ("server", "usd_per_day"): (NANO * 13 // 10, 1),
        ("server", "requests_per_day"): (3, 1),
        ("key", "tokens_per_day"): (111, 1),
        ("key", "usd_per_day"): (2 * NANO, 1),
        ("key", "requests_per_day"): (3, 1),
    }
    assert spent_of(budget_of(of_first, day, tokens_per_month=1)) == (117, 1)
    # Midnight is at another hour: what was asked at 23:00 UTC is of the next day there.
    berlin = ZoneInfo("Europe/Berlin")
    assert spent_of(budget_of(of_first, day, berlin, requests_per_day=1)) == (1, 0)
    following = day + timedelta(days=1)
    assert spent_of(budget_of(of_first, following, berlin, requests_per_day=1)) == (1, 1)
    assert spent_of(budget_of(of_first, day, tokens_per_minute=1)) == (0, 0)
    assert spent_of(budget_of(LimitSubject(LimitScope.ADDRESS, "::1"), day, tokens_per_day=1)) == (
        0,
        0,
    )


@pytest.mark.django_db
def test_the_book_holds_what_the_database_does(django_capture_on_commit_callbacks):
    copilot = make_copilot(limits={"concurrent": 2})
    SubjectLimits.objects.create(scope=LimitScope.KEY, subject="7", limits={"concurrent": 3})

    def held() -> list[tuple[str, int]]:
        found = BOOK.rules_for(Asking(copilot_id=copilot.pk, key_id=7))
        return [(one.subject.scope.value, one.most) for one in found]

    assert held() == []
    with django_capture_on_commit_callbacks(execute=True):
        limits_changed()
    assert held() == [("key", 3), ("copilot", 2)]
    SubjectLimits.objects.all().delete()
    assert held() == [("key", 3), ("copilot", 2)]
    BOOK.read()
    assert held() == [("copilot", 2)]


@pytest.mark.django_db(transaction=True)
def test_a_book_that_nobody_reads_is_read_by_who_asks(monkeypatch):
    now = [100.0]
    book = Book(lambda: now[0])
    monkeypatch.setattr("copilot_admin.limits.admission.BOOK", book)
    row = SubjectLimits.objects.create(scope=LimitScope.SERVER, limits={"concurrent": 1})
    async_to_sync(ask)("a")
    refused(id="b")
    row.delete()
    now[0] = 115.0
    refused(id="c")
    now[0] = 115.1
    async_to_sync(ask)("d")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What listeners are told, besides the log."""
    noted: list[tuple[str, int]] = []
    listeners = [*near_limits.LISTENERS, lambda near: noted.append((near.rule.kind.key, near.used))]
    monkeypatch.setattr(near_limits, "LISTENERS", listeners)
    return noted


def test_four_fifths_of_a_limit_are_told_once(told, caplog):
    caplog.set_level(logging.WARNING, "copilot_admin.limits.near_limits")
    with limited({COPILOT: {"concurrent": 5}}):
        for id in "abcd":
            async_to_sync(ask)(id)
            assert told == ([("concurrent", 4)] if id == "d" else [])
        async_to_sync(ask)("e")
    assert told == [("concurrent", 4)]
    assert [one.getMessage() for one in caplog.records] == [
        "limit concurrent of copilot:3: 80 % are used"
    ]


@pytest.mark.parametrize("user", ["anna", "5501"])
def test_the_log_names_no_user_and_no_address(told, caplog, user):
    caplog.set_level(logging.WARNING, "copilot_admin.limits.near_limits")
    with limited({LimitSubject(LimitScope.USER, user): {"concurrent": 1}}):
        async_to_sync(ask)(user=user)
    assert [one.getMessage() for one in caplog.records] == [
        "limit concurrent of user: 100 % are used"
    ]


def test_a_rate_is_looked_at_once_a_second_at_most(told, monkeypatch):
    moments = iter([0.0, 0.5, 1.0])
    clock = SimpleNamespace(monotonic=lambda: next(moments))
    monkeypatch.setattr(near_limits, "time", clock)
    with limited({COPILOT: {"requests_per_minute": 3}}):
        for id, expected in (("a", []), ("b", []), ("c", [("requests_per_minute", 3)])):
            async_to_sync(ask)(id)
            assert told == expected


@pytest.mark.django_db(transaction=True)
def test_a_charge_that_comes_near_a_budget_is_told(told):
    with limited({COPILOT: {"tokens_per_day": 100}}):
        admission = async_to_sync(ask)("a")
        async_to_sync(admission.end)(Charge(tokens=80))
    assert told == [("tokens_per_day", 80)]
