"""Periods, metrics and rollups."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil

from django.db import connection
from hypothesis import given
from hypothesis import strategies as st
import pytest

from copilot_admin.admin.analytics.scope import AnalyticsScope
from copilot_admin.admin.analytics.views import find_running
from copilot_admin.analytics import metrics
from copilot_admin.analytics.metrics import Counts, percentile
from copilot_admin.analytics.periods import HOUR, Period, Resolution, Span, read_period
from copilot_admin.analytics.rollups import (
    RollupSource,
    RunSource,
    Scope,
)
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.models import (
    CallerDay,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    EndUser,
    ErrorUsage,
    HourlyUsage,
    Outcome,
    Run,
    ToolUsage,
)
from copilot_admin.models.usage import TTFT_LIMITS
from copilot_admin.transcripts.feedback import SubmittedFeedback, store_turn_feedback
from tests.databases import IS_POSTGRESQL, forget_sizes
from tests.factories import make_copilot, make_version
from tests.transcripts.store.journaling import START, Client, ai, ending

NOW = datetime(2026, 11, 20, 15, 20, tzinfo=UTC)
DAY = timedelta(days=1)


def day(number: int, hour: int = 0) -> datetime:
    return datetime(2026, 11, number, hour, tzinfo=UTC)


class TestPeriods:
    @pytest.mark.parametrize(
        ("given", "expected"),
        [
            ({"days": "7"}, ("7", day(14), day(21), day(7), day(13, 16))),
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
        assert period == Period(name=name, now=Span(first, end), before=Span(before, before_end))

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
    def test_invalid_periods_are_marked(self, given):
        period = read_period(given, at=NOW)
        assert (period.is_wrong, period.name) == (True, "30")
        assert period.now.end == day(21)

    @pytest.mark.parametrize(
        ("given", "step", "firsts"),
        [
            ({"days": "1"}, Resolution.HOUR, [day(20, hour) for hour in range(24)]),
            ({"days": "1", "by": "week"}, Resolution.HOUR, [day(20, hour) for hour in range(24)]),
            ({"days": "7"}, Resolution.DAY, [day(number) for number in range(14, 21)]),
            ({"days": "7", "by": "week"}, Resolution.WEEK, [day(14), day(16)]),
            ({"since": "2026-11-01", "until": "2026-11-20", "by": "other"}, Resolution.DAY, None),
            ({"days": "90"}, Resolution.WEEK, None),
            ({"days": "90", "by": "day"}, Resolution.DAY, None),
        ],
    )
    def test_a_long_period_goes_by_weeks_unless_days_are_asked_for(self, given, step, firsts):
        period = read_period(given, at=NOW)
        steps = period.slots
        assert period.resolution is step
        assert firsts is None or [span.first for span in steps] == firsts
        assert (steps[0].first, steps[-1].end) == (period.now.first, period.now.end)
        assert all(one.end == other.first for one, other in pairwise(steps))
        assert [period.slot_of(span.end - HOUR) for span in steps] == [one.first for one in steps]


class TestPercentile:
    @pytest.mark.parametrize(
        ("step", "seconds"),
        [(None, None), (0, 0.05), (31, 50), (10, pytest.approx(0.446, abs=0.01))],
    )
    def test_single_steps(self, step, seconds):
        counts = [0] * 32
        if step is not None:
            counts[step] = 1
        assert percentile(counts, 0.5) == seconds

    @given(st.lists(st.integers(51, 50_000), min_size=1, max_size=60), st.sampled_from([0.5, 0.95]))
    def test_a_time_is_within_a_step_of_the_true_one(self, times, share):
        counts = [0] * 32
        for ms in times:
            counts[next(step for step, most in enumerate(TTFT_LIMITS) if ms <= most)] += 1
        true = sorted(times)[max(1, ceil(share * len(times))) - 1]
        assert true / 1.28 <= percentile(counts, share) * 1000 <= true * 1.28


@pytest.mark.parametrize(
    ("metric", "numbers", "value"),
    [
        (metrics.QUESTIONS, {"questions": 3}, 3),
        (metrics.USERS, {}, None),
        (metrics.USERS, {"users": 0}, 0),
        (metrics.SATISFACTION, {"up": 3, "down": 1}, 0.75),
        (metrics.SATISFACTION, {}, None),
        (metrics.ERRORS, {"errors": 1, "runs": 4}, 0.25),
        (metrics.COST, {"cost": 2, "unpriced": 1}, 2),
        (metrics.COST, {"unpriced": 1}, None),
        (metrics.COST, {}, 0),
    ],
)
def test_metrics(metric, numbers, value):
    assert metric.aggregate(Counts(numbers)) == value


@pytest.mark.database
@pytest.mark.django_db
class TestRollups:
    def test_a_period_is_cut_at_its_hour_and_users_count_once(self):
        version, other = make_version(), make_version()
        for copilot, principal, at in (
            (version, "key:1", START - DAY),
            (other, "key:1", START - DAY + timedelta(hours=1)),
            (version, "key:2", START - DAY + timedelta(hours=5)),  # after the hour it is now
            (version, "key:1", START),
            (version, "anonymous", START),
        ):
            Client(version=copilot, principal=principal, now=at).ask("Hi").answer("-")
        period, source = (
            read_period({"days": "1"}, at=START + timedelta(hours=2)),
            RollupSource(Scope()),
        )
        assert [source.total(span)["questions"] for span in (period.now, period.before)] == [2, 2]
        assert [source.count_users(span) for span in (period.now, period.before)] == [2, 1]
        assert [(at.hour, one["questions"]) for at, one in source.series(period).items()] == [
            (START.hour, 2)
        ]
        week = read_period({"days": "7"}, at=START + timedelta(hours=2))
        source = RollupSource(Scope(copilots=[version.copilot_id]))
        days = {at.date(): number for at, number in source.users_by_slot(week).items()}
        assert days == {START.date(): 2, (START - DAY).date(): 2}
        assert list(source.groups(week.now, "copilot_id", "version")) == [(version.copilot_id, 1)]
        assert list(source.groups(week.now, "model")) == [("small-1",)]
        nothing = RollupSource(Scope(copilots=[]))
        assert (nothing.count_users(week.now), nothing.total(week.now)["runs"]) == (0, 0)
        assert nothing.users_by_slot(week) == {}

    def test_a_part_of_the_traffic_has_the_numbers_that_rollups_have(self):
        version = make_version()
        failed = ending(Outcome.FAILED, error_code="no-model")
        Client(version=version, now=START).ask("Hi").answer("-", ended=failed)
        period = read_period({"days": "7"}, at=START)
        for scope, found in (
            (Scope(), (1, 1, {"no-model"})),
            (Scope(model="small-1"), (1, None, {"failed"})),
            (Scope(copilots=[version.copilot_id], version=1), (1, None, {"failed"})),
            (Scope(model="other"), (0, None, set())),
        ):
            source = RollupSource(scope)
            codes = {code for _slot, code in source.errors(period)}
            total, users = source.total(period.now)["questions"], source.count_users(period.now)
            assert (total, users, codes) == found

    def test_weeks_are_the_sums_of_their_days_and_users_of_a_week_count_once(self):
        version = make_version()
        for days, principal in ((0, "key:1"), (1, "key:1"), (1, "key:2"), (8, "key:1")):
            client = Client(version=version, principal=principal, now=START - days * DAY)
            client.ask("Hi").answer("-")
        asked = {"since": f"{START - 9 * DAY:%Y-%m-%d}", "until": f"{START:%Y-%m-%d}"}
        day, week = (read_period({**asked, "by": by}, at=START) for by in ("day", "week"))
        source, summed = RollupSource(Scope()), Counter()
        for slot, counts in source.series(day).items():
            summed[week.slot_of(slot)] += counts["questions"]
        assert {at: one["questions"] for at, one in source.series(week).items()} == summed
        assert source.users_by_slot(week) == {
            week.slot_of(START - 8 * DAY): 1,
            week.slot_of(START): 2,
        }

    def test_users_have_the_numbers_of_the_rollups(self):
        for name in ("ada", "bob"):
            client = Client(trace_id="chat", user=AskingUser(id=name), now=START)
            turn = client.ask("Hi").answer("Hello").run.turn
            store_turn_feedback(SubmittedFeedback.model_validate({"vote": "thumbs_up"}), turn=turn)
            client.now += timedelta(hours=2)
            failed = ending(Outcome.FAILED, error_code="no-model", ttft_ms=70_000)
            client.ask("Hi", ai("Hello"), "More?").answer("x", ended=failed)
        users = EndUser.objects.in_bulk(field_name="identifier")
        everybody = Scope(users=[one.pk for one in users.values()])
        for days in ("1", "7"):
            period = read_period({"days": days}, at=START + timedelta(hours=3))
            runs, rollups = RunSource(everybody), RollupSource(Scope())
            assert nonzero(runs.total(period.now)) == nonzero(rollups.total(period.now))
            assert nonzero(runs.total(period.before)) == nonzero(rollups.total(period.before))
            assert runs.count_users(period.now) == rollups.count_users(period.now) == 2
            assert runs.count_users(period.before) == 0
            assert runs.errors(period) == rollups.errors(period)
            assert runs.costs_by_model(period) == rollups.costs_by_model(period)
            assert runs.users_by_copilot(period.now) == rollups.users_by_copilot(period.now)
            for names in (("model",), ("copilot_id", "version")):
                groups = (source.groups(period.now, *names) for source in (runs, rollups))
                one, other = ({key: nonzero(c) for key, c in found.items()} for found in groups)
                assert one == other
            alone = RunSource(Scope(users=[users["ada"].pk], model="small-1"))
            assert (alone.total(period.now)["runs"], alone.total(period.now)["up"]) == (2, 1)

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
            (ToolUsage.objects, "day", "tool_usage_row"),
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

    @pytest.mark.parametrize("scope", [Scope(copilots=[1]), Scope(users=[1]), Scope()])
    def test_answers_under_way_are_found_by_their_index(self, scope):
        forget_sizes([Run._meta.db_table])
        period = read_period({}, at=NOW)
        rows = find_running(AnalyticsScope(period=period, traffic=scope), at=NOW)
        assert "run_still_running" in indexed_plan(rows)


def nonzero(counts):
    return {name: number for name, number in counts.items() if number}


def indexed_plan(rows):
    """The plan where a table is too small for its index."""
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
    return rows.explain()
