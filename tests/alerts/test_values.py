"""Windows, addresses, figures in words, and words of strangers; pure."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from copilot_admin.alerts.messages import to_line
from copilot_admin.alerts.rule_kinds import get_baseline
from copilot_admin.alerts.rules import AlertWindow, Unit, format_value, window_span
from copilot_admin.analytics.periods import Span
from tests.alerts.alerting import NOON


def day(number: int, hour: int = 0, month: int = 11) -> datetime:
    return datetime(2026, month, number, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("window", "first", "end"),
    [
        (AlertWindow.ONE_HOUR, day(20, 11), day(20, 13)),
        (AlertWindow.THREE_HOURS, day(20, 9), day(20, 13)),
        (AlertWindow.ONE_DAY, day(19, 12), day(20, 13)),
        (AlertWindow.ONE_WEEK, day(13, 12), day(20, 13)),
        (AlertWindow.TODAY, day(20), day(21)),
        (AlertWindow.MONTH, day(1), day(1, month=12)),
    ],
)
def test_a_window_has_its_full_hours_and_the_one_that_runs(window, first, end):
    assert window_span(window, NOON) == Span(first, end)


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        (Unit.NUMBER, "1234", "1,234"),
        (Unit.PERCENT, "12.5", "12.50 %"),
        (Unit.PERCENT, "10.00", "10 %"),
        (Unit.DOLLARS, "1234.5", "$1,234.50"),
    ],
)
def test_figures_as_they_are_read(unit, value, text):
    assert format_value(unit, Decimal(value)) == text


@pytest.mark.parametrize(
    ("weeks", "usual"),
    [
        ([10, 12, 0, 11], 10),
        ([10, 12, 14, 11], 11),
        ([0, 12, 14, 11], 11),
        ([10, 12, 0, 0], 10),  # it began two weeks ago
        ([10, 0, 0, 0], None),
        ([0, 0, 0, 0], None),
        ([0, 0, 0, 9], 0),
    ],
)
def test_the_baseline_is_the_median_week_since_the_first_question(weeks, usual):
    assert get_baseline(weeks) == usual


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Wrong\r\nBcc: all@example.com", "Wrong Bcc: all@example.com"),
        ("a\u2028b\u2029c\x85d\x00e\x1b[31mf", "a b c d e [31mf"),
        ("\u202egnp.exe\u2066", "gnp.exe"),
        ("  much \t space  ", "much space"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("half \ud800 pair", "half pair"),
        ("x" * 40, "x" * 40),
        ("x" * 41, "x" * 39 + "…"),
        (" " * 100 + "x", "…"),
    ],
)
def test_untrusted_text_becomes_one_short_line(text, line):
    assert to_line(text, 40) == line
