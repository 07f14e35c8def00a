"""Each limit of each subject refuses at its end, tells before, and is for nobody else."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from random import Random
from zoneinfo import ZoneInfo

from asgiref.sync import async_to_sync
import pytest

from copilot_admin.limits import admission, near_limits
from copilot_admin.limits.admission import LimitExceeded
from copilot_admin.limits.demand import Charge
from copilot_admin.limits.rules import KINDS, NANO, LimitKind, LimitMeasure
from copilot_admin.limits.sentences import WHOSE
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.limits.windows import BudgetPeriod, window_at
from copilot_admin.models import LimitScope
from tests.limits.limiting import ask, limited

# Who asks, by what is limited of him; and somebody of whom that is another.
ALIKE = {"copilot_id": 3, "key_id": 7, "user": "ada", "address": "192.0.2.7"}
OTHER = {
    LimitScope.COPILOT: {"copilot_id": 4},
    LimitScope.KEY: {"key_id": 8},
    LimitScope.USER: {"user": "eve"},
    LimitScope.ADDRESS: {"address": "192.0.2.8"},
}
SUBJECTS = {
    LimitScope.SERVER: LimitSubject(LimitScope.SERVER),
    LimitScope.COPILOT: LimitSubject(LimitScope.COPILOT, "3"),
    LimitScope.KEY: LimitSubject(LimitScope.KEY, "7"),
    LimitScope.USER: LimitSubject(LimitScope.USER, "ada"),
    LimitScope.ADDRESS: LimitSubject(LimitScope.ADDRESS, "192.0.2.7"),
}
MOST = 5
ONE = {
    LimitMeasure.TOKENS: Charge(tokens=1),
    LimitMeasure.USD: Charge(nano_usd=NANO),
}


@pytest.fixture(autouse=True)
def _within_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """No minute ends within a test."""
    now = datetime.now(UTC)
    later = now if now.second < 30 else now.replace(second=0) + timedelta(minutes=1)
    stopped = type("Stopped", (datetime,), {"now": classmethod(lambda *_: later)})
    monkeypatch.setattr(admission, "datetime", stopped)
    monkeypatch.setattr(near_limits, "datetime", stopped)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """At how much use listeners were told."""
    noted: list[int] = []
    monkeypatch.setattr(near_limits, "_LOOK_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(near_limits, "LISTENERS", [lambda near: noted.append(near.used)])
    return noted


def take(kind: LimitKind, number: int, **asking: object) -> None:
    """One of what a kind counts; an answer that is counted by its end has ended."""
    let_in = async_to_sync(ask)(f"{number}-{asking}", **{**ALIKE, **asking})
    if kind.measure is not LimitMeasure.CONCURRENT:
        async_to_sync(let_in.end)(ONE.get(kind.measure, Charge()))


def _each_with_some(scope: int, kind: int) -> Sequence[pytest.MarkDecorator]:
    """Who is limited is one thing, and what is counted another: by night each meets each."""
    return () if kind % len(LimitScope) == scope else (pytest.mark.nightly,)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("scope", "kind"),
    [
        pytest.param(scope, kind, id=f"{scope}-{key}", marks=_each_with_some(place, number))
        for place, scope in enumerate(LimitScope)
        for number, (key, kind) in enumerate(KINDS.items())
    ],
)
def test_a_limit_refuses_at_its_end_and_tells_before(
    scope: LimitScope, kind: LimitKind, told: list[int]
):
    unit = NANO if kind.measure is LimitMeasure.USD else 1
    with limited({SUBJECTS[scope]: {kind.key: MOST}}):
        for number in range(MOST - 1):
            take(kind, number)
        assert told == [(MOST - 1) * unit]
        take(kind, MOST)
        with pytest.raises(LimitExceeded) as caught:
            take(kind, MOST + 1)
        for other in filter(None, [OTHER.get(scope)]):
            take(kind, MOST + 2, **other)
    error, now = caught.value, datetime.now(UTC)
    assert (error.status, error.code) == (429, "limit-reached")
    assert (error.rule.subject, error.rule.kind) == (SUBJECTS[scope], kind)
    assert error.public.startswith(WHOSE[scope]) and "Ask again" in error.public
    ends = window_at(kind.period, now, UTC).ends if kind.period else now
    # A rate is counted by another clock, which does not stand still: a second more.
    longest = {None: 5, BudgetPeriod.MINUTE: 61}.get(kind.period, (ends - now).total_seconds() + 60)
    assert 1 <= error.retry_after <= longest


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_limit_that_is_changed_while_it_counts_holds_at_once(kind: LimitKind):
    """What was used counts on; only a rate of any minute begins anew."""
    subject = SUBJECTS[LimitScope.KEY]
    with limited({subject: {kind.key: MOST}}):
        for number in range(3):
            take(kind, number)
    with limited({subject: {kind.key: 3}}):
        if kind.measure is LimitMeasure.REQUESTS and kind.period is BudgetPeriod.MINUTE:
            take(kind, 3)
        else:
            with pytest.raises(LimitExceeded):
                take(kind, 3)
    with limited({subject: {kind.key: 4}}):
        take(kind, 4)


# Midnights that there are twice or not at all, a day that was left out, quarters of hours.
ODD_ZONES = (
    "Africa/Cairo", "America/Havana", "America/Santiago", "Asia/Beirut", "Asia/Kathmandu",
    "Australia/Lord_Howe", "Pacific/Apia", "Pacific/Chatham", "Pacific/Kiritimati", "America/St_Johns",
)  # fmt: skip


def changes_of_clocks(zone: tzinfo) -> list[datetime]:
    """The hours of some years in which a zone has another offset than before."""
    hours = (datetime(2011, 1, 1, tzinfo=UTC) + timedelta(hours=n) for n in range(0, 24 * 366, 1))
    return [
        hour
        for hour in hours
        if hour.astimezone(zone).utcoffset()
        != (hour - timedelta(hours=1)).astimezone(zone).utcoffset()
    ]


@pytest.mark.parametrize("name", ODD_ZONES)
def test_windows_follow_each_other_without_a_gap_wherever_midnight_is(name: str):
    zone, random = ZoneInfo(name), Random(name)  # no secret
    moments = [
        at + timedelta(minutes=random.randrange(-2000, 2000))
        for at in changes_of_clocks(zone)
        for _ in range(40)
    ]
    moments += [
        datetime(2024, m, 1, tzinfo=UTC) + timedelta(hours=h) for m in (1, 3) for h in (-14, 14)
    ]
    for now in moments:
        for period in BudgetPeriod:
            window = window_at(period, now, zone)
            assert window.begins <= now < window.ends, (now, period)
            assert window_at(period, window.ends, zone).begins == window.ends
            assert window_at(period, window.begins, zone) == window
