"""Budgets last for minutes, days and months as people say them, wherever their midnight is."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from copilot_admin.limits.windows import BudgetPeriod, LimitWindow, window_at

BERLIN, KOLKATA = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Kolkata")


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("period", "zone", "now", "begins", "ends"),
    [
        ("minute", UTC, utc(2026, 3, 1, 9, 5, 59), utc(2026, 3, 1, 9, 5), utc(2026, 3, 1, 9, 6)),
        ("minute", KOLKATA, utc(2026, 3, 1, 9, 6), utc(2026, 3, 1, 9, 6), utc(2026, 3, 1, 9, 7)),
        ("day", UTC, utc(2026, 3, 1, 23, 59, 59), utc(2026, 3, 1), utc(2026, 3, 2)),
        ("day", UTC, utc(2026, 3, 2), utc(2026, 3, 2), utc(2026, 3, 3)),
        ("day", BERLIN, utc(2026, 1, 5, 22, 59), utc(2026, 1, 4, 23), utc(2026, 1, 5, 23)),
        ("day", BERLIN, utc(2026, 1, 5, 23), utc(2026, 1, 5, 23), utc(2026, 1, 6, 23)),
        # The clocks change: days of 23 and 25 hours.
        ("day", BERLIN, utc(2026, 3, 29, 12), utc(2026, 3, 28, 23), utc(2026, 3, 29, 22)),
        ("day", BERLIN, utc(2026, 10, 25, 0, 30), utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)),
        ("day", BERLIN, utc(2026, 10, 25, 1, 30), utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)),
        ("day", KOLKATA, utc(2026, 1, 5), utc(2026, 1, 4, 18, 30), utc(2026, 1, 5, 18, 30)),
        ("month", UTC, utc(2026, 12, 31, 23, 59), utc(2026, 12, 1), utc(2027, 1, 1)),
        ("month", UTC, utc(2028, 2, 29), utc(2028, 2, 1), utc(2028, 3, 1)),
        ("month", BERLIN, utc(2026, 3, 31, 22), utc(2026, 3, 31, 22), utc(2026, 4, 30, 22)),
        ("month", BERLIN, utc(2026, 3, 31, 21), utc(2026, 2, 28, 23), utc(2026, 3, 31, 22)),
    ],
)
def test_a_moment_lies_in_one_window(period, zone, now, begins, ends):
    window = window_at(BudgetPeriod(period), now, zone)
    assert window == LimitWindow(begins, ends)
    assert begins <= now < ends
    assert window_at(BudgetPeriod(period), ends, zone).begins == ends


def test_windows_have_names_of_their_own():
    first = window_at(BudgetPeriod.DAY, utc(2026, 1, 5), UTC)
    assert first.name == "202601050000"
    assert window_at(BudgetPeriod.DAY, first.ends, UTC).name == "202601060000"
