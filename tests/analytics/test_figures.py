"""Periods, times to the first token, and rollups."""

from collections import defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import isclose

from django.db import connection
from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.admin.analytics.running import running_now
from copilot_admin.analytics.first_token import PER_CENT, FirstToken, percentile
from copilot_admin.analytics.periods import (
    HOUR,
    FiguresPeriod,
    Resolution,
    Span,
    read_period,
)
from copilot_admin.analytics.rollup_figures import figures_of
from copilot_admin.models import (
    CallerDay,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    HourlyUsage,
    Run,
)
from copilot_admin.models.usage import TTFT_LIMITS
from tests.databases import IS_POSTGRESQL, forget_sizes
from tests.factories import make_copilot, make_version
from tests.transcripts.store.journaling import (
    START,
    Client,
)

NOW = datetime(2026, 11, 20, 15, 20, tzinfo=UTC)
DAY = timedelta(days=1)


def day(number: int, hour: int = 0) -> datetime:
    return datetime(2026, 11, number, hour, tzinfo=UTC)


class TestPeriods:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({}, ("7", day(14), day(21), day(7), day(13, 16))),
            ({"days": "1"}, ("1", day(20), day(21), day(19), day(19, 16))),
            (
                {"since": "2026-11-10", "until": "2026-11-12"},
                ("own", day(10), day(13), day(7), day(10)),
            ),
            ({"since": "2026-11-20"}, ("own", day(20), day(21), day(19), day(19, 16))),
            ({"until": "2026-11-10"}, ("own", day(10), day(11), day(9), day(10))),
            # What is to come is nothing.
            (
                {"since": "2026-11-19", "until": "2027-01-01"},
                ("own", day(19), day(21), day(17), day(18, 16)),
            ),
        ],
    )
    def test_today_is_compared_until_the_same_hour_and_whole_days_with_whole_days(
        self, given, expected
    ):
        period = read_period(given, at=NOW)
        name, first, end, before, before_end = expected
        assert period == FiguresPeriod(
            name=name, now=Span(first, end), before=Span(before, before_end)
        )

    @pytest.mark.parametrize(
        "given",
        [
            {"days": "5"},
            {"since": "nonsense"},
            {"since": "2026-11-12", "until": "2026-11-10"},
            {"since": "2027-01-01"},
            {"since": "1999-01-01"},
            {"until": "9999-12-31", "since": "0001-01-01"},
        ],
    )
    def test_what_is_no_period_is_said_and_a_week_is_shown(self, given):
        period = read_period(given, at=NOW)
        assert (period.is_wrong, period.name, period.now) == (True, "7", Span(day(14), day(21)))

    @pytest.mark.parametrize(
        ("given", "step", "firsts"),
        [
            ({"days": "1"}, Resolution.HOUR, [day(20, hour) for hour in range(24)]),
            ({"days": "1", "by": "week"}, Resolution.HOUR, [day(20, hour) for hour in range(24)]),
            ({}, Resolution.DAY, [day(number) for number in range(14, 21)]),
            ({"by": "week"}, Resolution.WEEK, [day(14), day(16)]),
            ({"since": "2026-11-01", "until": "2026-11-20", "by": "other"}, Resolution.DAY, None),
            ({"days": "90"}, Resolution.WEEK, None),
            ({"days": "90", "by": "day"}, Resolution.DAY, None),
        ],
    )
    def test_a_long_period_goes_by_weeks_unless_days_are_asked_for(self, given, step, firsts):
        period = read_period(given, at=NOW)
        steps = period.steps
        assert period.resolution is step
        assert firsts is None or [span.first for span in steps] == firsts
        assert (steps[0].first, steps[-1].end) == (period.now.first, period.now.end)
        assert all(one.end == other.first for one, other in pairwise(steps))
        assert [period.step_of(span.end - HOUR) for span in steps] == [one.first for one in steps]

    def test_in_the_last_hour_of_a_day_whole_days_are_compared(self):
        period = read_period({"days": "1"}, at=day(20, 23))
        assert period.before == Span(day(19), day(20))
        assert period.is_hourly


class TestFirstToken:
    def test_without_an_answer_there_is_no_time(self):
        assert percentile([0] * 32, 0.5) is None

    def test_the_ends_of_the_scale_say_that_they_are_ends(self):
        assert percentile([1] + [0] * 31, 0.5) == FirstToken(ms=50, above=-1, sign="<")
        assert percentile([0] * 31 + [1], 0.95) == FirstToken(ms=50_000, above=50_000, sign=">")

    @given(st.lists(st.integers(51, 50_000), min_size=1, max_size=60), st.sampled_from([0.5, 0.95]))
    def test_a_time_is_as_near_as_it_is_said_to_be(self, times, share):
        counts = [0] * 32
        for ms in times:
            counts[next(step for step, most in enumerate(TTFT_LIMITS) if ms <= most)] += 1
        ordered = sorted(times)
        true = ordered[max(1, -int(-share * len(times) // 1)) - 1]
        found = percentile(counts, share)
        assert abs(found.ms - true) / true <= PER_CENT / 100 + 0.02  # limits are whole numbers
        assert found.above < true


@pytest.mark.database
@pytest.mark.django_db
class TestRollups:
    def test_a_period_is_cut_at_its_hour_and_people_count_once(self):
        version, other = make_version(), make_version()
        for copilot, principal, at in (
            (version, "key:1", START - DAY),
            (other, "key:1", START - DAY + timedelta(hours=1)),
            (version, "key:2", START - DAY + timedelta(hours=5)),  # after the hour it is now
            (version, "key:1", START),
            (version, "anonymous", START),
        ):
            Client(version=copilot, principal=principal, now=at).ask("Hi").answer("-")
        found = figures_of(read_period({"days": "1"}, at=START + timedelta(hours=2)))
        assert (found.now["questions"], found.before["questions"]) == (2, 2)
        assert (found.people, found.people_before) == (2, 1)
        assert [counts["questions"] for _span, counts in found.series][11:14] == [0, 2, 0]
        week = figures_of(read_period({}, at=START + timedelta(hours=2)), [version.copilot_id])
        assert (week.now["questions"], week.people) == (4, 3)
        assert week.people_of == {START.date(): 2, (START - DAY).date(): 2}
        assert [(part.copilot.pk, part.version) for part in week.versions] == [
            (version.copilot_id, 1)
        ]
        assert [part.model for part in week.models] == ["small-1"]
        assert figures_of(read_period({}, at=START), []).now["questions"] == 0
        assert isclose(found.now.failed, 0.0)

    def test_weeks_are_the_sums_of_their_days_and_people_of_a_week_count_once(self):
        version = make_version()
        for days, principal in ((0, "key:1"), (1, "key:1"), (1, "key:2"), (8, "key:1")):
            client = Client(version=version, principal=principal, now=START - days * DAY)
            client.ask("Hi").answer("-")
        asked = {"since": f"{START - 9 * DAY:%Y-%m-%d}", "until": f"{START:%Y-%m-%d}"}
        by_day, by_week = (
            figures_of(read_period({**asked, "by": by}, at=START)) for by in ("day", "week")
        )
        summed: dict[datetime, int] = defaultdict(int)
        for span, counts in by_day.series:
            summed[by_week.period.step_of(span.first)] += counts["questions"]
        assert [(span.first, counts["questions"]) for span, counts in by_week.series] == [
            *summed.items()
        ]
        people = {first: number for first, number in summed.items() if number}
        assert sum(people.values()) == 4
        assert by_week.people_of == {
            by_week.period.step_of(START - 8 * DAY).date(): 1,
            by_week.period.step_of(START).date(): 2,
        }

    def test_rollups_are_found_by_their_days_and_hours(self):
        if IS_POSTGRESQL:
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL enable_seqscan = off")
        for rows, column, index in (
            (DailyTotal.objects, "day", "daily_total_row"),
            (DailyUsage.objects, "day", "usage_row"),
            (HourlyUsage.objects, "hour", "hourly_usage_row"),
            (ErrorUsage.objects, "hour", "error_usage_row"),
            (CriterionUsage.objects, "hour", "criterion_usage_row"),
            (CallerDay.objects, "day", "caller_of_day"),
        ):
            first, end = (START, START + DAY) if column == "hour" else (START.date(),) * 2
            plan = rows.filter(**{f"{column}__gte": first, f"{column}__lt": end}).explain()
            table = rows.model._meta.db_table
            name = index if IS_POSTGRESQL else f"sqlite_autoindex_{table}"
            assert name in plan or f"INDEX {index}" in plan, plan
            assert "SCAN " not in plan.replace("Index Scan", "")

    def test_hours_of_one_copilot_are_found_by_both(self):
        copilots = [make_copilot() for _ in range(5)]
        HourlyUsage.objects.bulk_create(
            HourlyUsage(copilot=one, hour=START + timedelta(hours=hour))
            for one in copilots
            for hour in range(200)
        )
        with connection.cursor() as cursor:  # an empty table is read by any of its indexes
            cursor.execute(f"ANALYZE {HourlyUsage._meta.db_table}")
        hours = HourlyUsage.objects.filter(
            copilot__in=[copilots[0].pk], hour__gte=START, hour__lt=START + DAY
        ).order_by()
        assert "hourly_usage_of_copilot" in indexed_plan(hours)

    @pytest.mark.parametrize("of", [{"copilots": (1,)}, {"copilots": None, "users": (1,)}])
    def test_what_runs_is_found_among_what_runs(self, of, django_assert_num_queries):
        forget_sizes([Run._meta.db_table])
        with django_assert_num_queries(1) as asked:
            running_now(**of, at=NOW)
        sql = asked.captured_queries[0]["sql"]
        with connection.cursor() as cursor:
            prefix = "EXPLAIN" if IS_POSTGRESQL else "EXPLAIN QUERY PLAN"
            if IS_POSTGRESQL:
                cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(f"{prefix} {sql}")
            assert "run_still_running" in str(cursor.fetchall())


def indexed_plan(rows):
    """The plan where a table is too small for its index."""
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
    return rows.explain()
