"""Rates without room are remembered, and not more of them than there is memory for."""

from datetime import UTC, datetime, timedelta

from copilot_admin.limits.closed_rates import _MOST, ClosedRates
from copilot_admin.limits.rules import KINDS, LimitRule
from copilot_admin.limits.subjects import LimitSubject
from copilot_admin.models.limits import LimitScope

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
LATER = NOW + timedelta(seconds=30)


def rule_of(number: int) -> LimitRule:
    return LimitRule(
        LimitSubject(LimitScope.ADDRESS, f"2001:db8:{number:x}::"), KINDS["requests_per_minute"], 1
    )


def test_a_rate_is_closed_until_its_time():
    closed = ClosedRates()
    closed.close(rule_of(1), until=LATER)
    assert closed.until(rule_of(1), NOW) == LATER
    assert closed.until(rule_of(2), NOW) is None
    assert closed.until(rule_of(1), LATER) is None
    assert closed.until(rule_of(1), NOW) is None  # it was forgotten
    closed.close(rule_of(1), until=LATER)
    closed.forget()
    assert closed.until(rule_of(1), NOW) is None


def test_a_clock_that_is_set_back_opens_what_was_closed_by_it():
    closed = ClosedRates()
    closed.close(rule_of(1), until=LATER)
    assert closed.until(rule_of(1), NOW - timedelta(hours=1)) is None
    assert closed.until(rule_of(1), NOW) is None  # it was forgotten


def test_whoever_comes_from_ever_other_addresses_fills_no_memory():
    closed = ClosedRates()
    for number in range(_MOST):
        closed.close(rule_of(number), until=LATER)
    closed.close(rule_of(0), until=LATER)
    for number in range(_MOST, _MOST + 3):
        closed.close(rule_of(number), until=LATER)
    assert len(closed._until) == _MOST
    known = [number for number in range(_MOST + 3) if closed.until(rule_of(number), NOW)]
    assert known == [0, *range(4, _MOST + 3)]
