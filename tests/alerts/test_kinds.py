"""Kinds of rules, and the windows, figures and texts that they share."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

from django.db import connection
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.alerts.messages import to_line
from copilot_admin.alerts.rule_kinds import RULE_KINDS, get_baseline
from copilot_admin.alerts.rules import (
    AlertScope,
    AlertWindow,
    Measurement,
    Unit,
    format_value,
    window_span,
)
from copilot_admin.analytics.periods import Span
from copilot_admin.models import Conversation, Copilot, DailyTotal, Outcome
from copilot_admin.transcripts.filters import read_filters
from tests.alerts.alerting import HOUR, NOON, count, thumb
from tests.factories import make_published, make_version
from tests.transcripts.store.journaling import Client, ending

pytestmark = pytest.mark.django_db
KINDS = RULE_KINDS
MAX_QUERIES = 30
WEEK = timedelta(days=7)


def measured(
    name: str, window: str = "", scope: AlertScope | None = None, at: datetime = NOON
) -> Measurement:
    kind = KINDS[name]
    span = window_span(AlertWindow(window) if window else kind.windows[0], at)
    return kind.measure(scope or AlertScope(), span)


@pytest.mark.parametrize("name", sorted(KINDS))
class TestEveryKind:
    def test_finds_nothing_bad_where_nothing_happened(self, name):
        kind = KINDS[name]
        for window in kind.windows:
            found = measured(name, window)
            assert found.value is None or not kind.is_bad(found.value, kind.threshold)

    def test_is_about_the_copilots_of_its_scope_alone(self, name):
        busy = make_published()
        client = Client(version=busy.live)
        asked = client.ask("Why?").answer(ended=failed("Down"))
        thumb(asked)
        of_none = measured(name, scope=AlertScope(ids=()))
        nothing = measured(name, scope=AlertScope(ids=(make_published().pk,)))
        assert (of_none.value or 0) == (nothing.value or 0) == 0

    def test_asks_little_and_leads_to_a_filter_that_there_is(self, name):
        client = Client(version=make_version())
        asked = client.ask("Why?").answer(ended=failed("Down"))
        thumb(asked)
        with CaptureQueriesContext(connection) as queries:
            found = measured(name)
        assert len(queries) <= MAX_QUERIES
        assert not read_filters(found.query).errors
        assert "\n" not in found.sentence


def failed(text: str, code: str = "ProviderUnavailable"):
    return ending(Outcome.FAILED, error=text, error_code=code, ttft_ms=None)


def listed(found: Measurement) -> list[int]:
    rows = read_filters(found.query).apply(Conversation.objects.all())
    return sorted(rows.values_list("pk", flat=True))


def test_thumbs_down_are_counted():
    version = make_version()
    asked = [Client(version=version, trace_id=f"t{n}").ask("Why?").answer("So") for n in range(3)]
    for one, text in zip(asked, ("Wrong\nBcc: x", "", "Slow"), strict=True):
        thumb(one, text, tags=("off",))
    thumb(asked[2], up=True)
    found = measured("thumbs_down")
    assert (found.value, found.sentence) == (2, "2 thumbs down")
    assert listed(found) == sorted(one.conversation.pk for one in asked[:2])


def test_the_error_rate_is_that_of_all_requests():
    version = make_version()
    bad = Client(version=version, trace_id="bad").ask("Why?").answer(ended=failed("No\r\nluck"))
    for n in range(3):
        Client(version=version, trace_id=f"t{n}").ask("Why?").answer("So")
    found = measured("error_rate")
    assert found == Measurement(
        value=Decimal(25), basis=4, sentence="1 of 4 requests ended in an error", query=found.query
    )
    assert listed(found) == [bad.conversation.pk]


def test_the_worst_provider_counts_by_its_own_faults():
    version = make_version()
    for n, end in enumerate(
        [
            failed("Down"),
            failed("Down", "ProviderTimeout"),
            failed("Too long", "LimitReached"),
            ending(),
        ]
    ):
        Client(version=version, trace_id=f"t{n}").ask("Why?").answer(ended=end)
    found = measured("failing_provider")
    assert (found.value, found.basis) == (Decimal(50), 4)
    assert found.sentence == "The provider Provider failed 2 of 4 requests"
    assert found.query["provider"] == "Provider"
    assert len(listed(found)) == 3  # all errors, for the list knows no faults of providers


def usual(copilot: Copilot, *weeks: int) -> None:
    for number, asked in enumerate(weeks, 1):
        count(copilot, NOON - HOUR - number * WEEK, questions=asked)


def test_silence_is_measured_by_the_same_hours_of_the_weeks_before():
    copilot = make_published()
    usual(copilot, 12, 10, 20, 30)
    found = measured("silence")
    assert (found.value, found.basis) == (Decimal(0), 12)
    assert found.sentence == "0 questions; the usual number is 12"
    assert found.query == {"since": "2026-11-13", "until": "2026-11-13"}
    count(copilot, NOON, questions=6)
    assert measured("silence").value == Decimal(50)


@pytest.mark.parametrize("change", [{"enabled": False}, {"live": None}])
def test_silence_of_disabled_copilots_is_expected(change):
    copilot = make_published()
    usual(copilot, 12, 10)
    Copilot.objects.update(**change)
    assert measured("silence").value is None
    assert measured("silence", scope=AlertScope(ids=(copilot.pk,))).value is None


def test_a_budget_is_that_of_the_day_or_the_month_and_says_what_it_does_not_know():
    copilot = make_published()
    for day, cost in ((1, "7.5"), (20, "1.25")):
        when = NOON.replace(day=day).date()
        DailyTotal.objects.create(copilot=copilot, day=when, cost=Decimal(cost), unpriced=day % 2)
    DailyTotal.objects.create(copilot=copilot, day=NOON.date() - timedelta(days=30), cost=100)
    month, today = measured("budget", "month"), measured("budget", "day")
    assert (month.value, today.value) == (Decimal("8.75"), Decimal("1.25"))
    assert month.sentence == "Answers cost $8.75; the cost of 1 more request is unknown"
    assert today.sentence == "Answers cost $1.25"
    assert month.query == {"since": "2026-11-01", "until": "2026-11-30"}
    assert today.query == {"since": "2026-11-20", "until": "2026-11-20"}


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
