"""What filters leave is found without reading a whole table, whatever they ask for."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.test.utils import CaptureQueriesContext
import pytest

from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import Conversation, Copilot, Feedback, Outcome, Run, Turn
from copilot_admin.transcripts.filters import entries
from copilot_admin.transcripts.filters.entries import newest_of_version
from copilot_admin.transcripts.filters.filter import Index
from copilot_admin.transcripts.filters.registry import BY_NAME
from copilot_admin.transcripts.search import finding
from copilot_admin.transcripts.search.chosen import Chosen, read_filters
from copilot_admin.transcripts.search.finding import (
    SearchScope,
    first_rows,
    gone_on,
    rows_anywhere,
    rows_from_newest,
    scope_of,
)
from copilot_admin.transcripts.store.users import row_of
from tests.databases import IS_POSTGRESQL, forget_sizes
from tests.factories import make_copilot, make_version
from tests.transcripts.search.test_filters import INDEXES

pytestmark = [pytest.mark.database, pytest.mark.django_db]
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
TOP = 2**62
NEWEST = Conversation.objects.order_by("-last_at", "-id")


def talks(number: int, *, days_ago: int = 0, **of: Any) -> None:
    """Conversations, a second apart, the last one newest."""
    at = NOON - timedelta(days=days_ago)
    given = {"copilot": Copilot.objects.first() or make_copilot(), "principal": "anonymous", **of}
    for second in range(number):
        moment = at + timedelta(seconds=second)
        Conversation.objects.create(**given, first_at=moment, last_at=moment)


def looked(window: int = 3, **given: str) -> tuple[list[str], SearchScope]:
    """The titles that are found, and where was looked."""
    chosen = read_filters({name.replace("_", "-"): value for name, value in given.items()})
    scope = scope_of(NEWEST, chosen, window=window)
    return [row.title for row in scope.rows], scope


def test_one_filter_whose_index_has_the_order_is_not_bounded():
    talks(5, has_file=True, title="file")
    found, scope = looked(file="yes")
    assert found == ["file"] * 5
    assert scope.end is None


def test_what_no_index_knows_is_looked_for_in_a_window_and_behind_it():
    talks(1, title="long", tokens=9000, days_ago=1)
    talks(3, title="short")
    found, scope = looked(tokens_from="9000")
    assert found == []
    assert scope.end == Conversation.objects.filter(title="short").earliest("last_at")
    behind = NEWEST.filter(last_at__lt=scope.end.last_at)
    further = scope_of(behind, read_filters({"tokens-from": "9000"}), window=3)
    assert ([row.title for row in further.rows], further.end) == (["long"], None)


@pytest.mark.parametrize(
    "other", [{"tokens_to": "10"}, {"caller": "anonymous"}, {"outcome": "running"}]
)
def test_the_filter_that_leaves_few_is_asked_first(other: dict[str, str]):
    talks(2, title="file", has_file=True, days_ago=1)
    talks(9, title="other")
    found, scope = looked(file="yes", **other)
    assert found == ["file", "file"]
    assert scope.end is None


def test_of_two_filters_that_leave_many_the_newest_of_one_are_looked_through():
    talks(1, title="both", has_file=True, has_call=True, days_ago=1)
    talks(4, title="call", has_call=True)
    talks(4, title="file", has_file=True)
    found, scope = looked(call="yes", file="yes")
    assert found == []
    assert scope.end is not None
    assert scope.end.last_at == NOON + timedelta(seconds=1)


def test_a_period_narrows_the_window():
    talks(1, title="long", tokens=9000, days_ago=3)
    talks(9, title="short")
    found, scope = looked(tokens_from="9000", until="2026-11-18")
    assert (found, scope.end) == (["long"], None)


def test_requests_are_looked_up_where_they_are_few():
    talks(1, title="asked", days_ago=1)
    talks(9, title="other")
    asked = Conversation.objects.get(title="asked")
    run = {"copilot": asked.copilot, "started_at": NOON, "heartbeat_at": NOON, "model": "rare"}
    Run.objects.create(conversation=asked, **run)
    found, scope = looked(model="rare")
    assert (found, scope.end) == (["asked"], None)
    nothing, scope = looked(model="none")
    assert (nothing, scope.end) == ([], None)


def runs(title: str, number: int = 1, *, days_ago: int = 0, **of: Any) -> None:
    """Requests of each conversation with a title."""
    at = NOON - timedelta(days=days_ago)
    for asked in Conversation.objects.filter(title=title):
        for _ in range(number):
            given = {"conversation": asked, "copilot": asked.copilot, "heartbeat_at": at, **of}
            Run.objects.create(started_at=at, **given)


def test_what_was_often_asked_long_ago_is_found_behind_the_window(monkeypatch):
    version = make_version()
    talks(2, title="old", days_ago=9, copilot=version.copilot)
    runs("old", 3, copilot_version=version)
    talks(9, title="new", copilot=version.copilot)
    chosen = read_filters({"version": "1"})
    found, scope = looked(version="1")
    assert (found, scope.end is None) == ([], False)
    monkeypatch.setattr(finding, "MOST_IDS", 6)
    anywhere = rows_anywhere(NEWEST, chosen)
    assert anywhere is not None
    assert [row.title for row in anywhere] == ["old", "old"]
    both = rows_anywhere(NEWEST, read_filters({"version": "1", "tokens-from": "5"}))
    assert both is not None
    assert not both
    monkeypatch.setattr(finding, "MOST_IDS", 5)
    assert rows_anywhere(NEWEST, chosen) is None


@pytest.mark.parametrize("what", ["cancelled", "truncated", "refused"])
def test_requests_that_seldom_end_so_are_found_by_an_index(what: str):
    talks(2, title="asked")
    talks(3, title="other")
    runs("asked", outcome=what)
    runs("other", outcome=Outcome.COMPLETED)
    chosen = read_filters({"counted": f"{what} 2026-11-20 2026-11-20"})
    rows = scope_of(NEWEST, chosen).rows
    assert [row.title for row in rows] == ["asked", "asked"]
    _use_indexes()
    assert "run_not_completed" in rows.all()[:51].explain()


@pytest.mark.parametrize(
    ("given", "table"),
    [({"model": "rare"}, "copilot_admin_run"), ({"reason": "Slow"}, "copilot_admin_feedback")],
)
def test_what_few_have_is_found_once_and_then_by_ids_alone(given: dict[str, str], table: str):
    talks(1, title="asked", n_down=1)
    talks(9, title="other")
    runs("asked", 2, model="rare")
    asked = Conversation.objects.get(title="asked")
    turn = Turn.objects.create(conversation=asked, started_at=NOON)
    Feedback.objects.create(turn=turn, source="end_user", value=-1, tags=["Slow"])
    with CaptureQueriesContext(connection) as queries:
        rows = scope_of(NEWEST, read_filters(given)).rows
        assert [row.title for row in rows] == ["asked"]
    assert [table in query["sql"] for query in queries.captured_queries] == [True, False]


def test_what_a_filter_does_not_know_leaves_nothing():
    talks(4)
    found, _scope = looked(copilot="nonsense", tokens_from="0")
    assert found == []


def test_a_page_is_mostly_found_among_the_nearest(monkeypatch):
    monkeypatch.setattr(finding, "FIRST_WINDOW", 4)
    talks(5, title="asked", tokens=7)
    chosen = read_filters({"tokens-from": "7"})
    assert [row.title for row in first_rows(NEWEST, chosen, size=2)] == ["asked"] * 3


@pytest.mark.parametrize("name", INDEXES)
def test_every_filter_reads_an_index_in_order_or_is_bounded(name: str):
    copilot = make_copilot(tags=["Risk"])
    row_of(AskingUser(id="ada"), at=NOON)
    text = str(copilot.pk) if name == "copilot" else INDEXES[name][0]
    talks(4, copilot=copilot)
    given = {"playground": "with", name: text}
    for also in ({}, {"tokens-from": "5"}, {"file": "yes"}):
        chosen = read_filters({**given, **also})
        scope = scope_of(NEWEST, chosen, window=1)
        if chosen.needs_bound:
            assert scope.end is not None or len(scope.rows) <= 1
        else:
            assert str(scope.rows.query) == str(NEWEST.filter(chosen.condition).query)
    alone = read_filters(given)
    if not alone.needs_bound and BY_NAME[name].index is Index.ORDER:
        assert INDEXES[name][1] in _plan(alone)


def test_a_window_is_a_range_of_the_lists_index():
    talks(4)
    chosen = read_filters({"tokens-from": "0", "playground": "with"})
    for order in (NEWEST, NEWEST.order_by("last_at", "id")):
        rows = scope_of(order, chosen, window=2).rows
        assert rows.count() == 2
        assert "conversation_recent" in _plan_of(rows)


def _plan(chosen: Chosen) -> str:
    return _plan_of(NEWEST.filter(chosen.condition))


def _plan_of(rows: QuerySet[Conversation]) -> str:
    _use_indexes()
    plan = str(rows.all()[:51].explain())
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan
    return plan


def _use_indexes() -> None:
    if IS_POSTGRESQL:
        with connection.cursor() as cursor:
            for way in ("seqscan", "bitmapscan", "sort"):
                cursor.execute(f"SET LOCAL enable_{way} = off")


def test_a_page_of_what_was_asked_long_ago_begins_with_the_newest_that_an_index_has(monkeypatch):
    version = make_version()
    talks(1, title="gone on", days_ago=10, copilot=version.copilot)
    talks(3, title="old", days_ago=9, copilot=version.copilot)
    talks(9, title="new", copilot=version.copilot)
    Conversation.objects.filter(title="gone on").update(last_at=NOON + timedelta(hours=1))
    for title in ("gone on", "old"):
        runs(title, copilot_version=version, model="m")
    monkeypatch.setattr(finding, "FIRST_WINDOW", 3)
    for given in ({"version": "1"}, {"model": "m"}, {"version": "1", "model": "m"}):
        chosen = read_filters(given)
        assert [one.title for one in first_rows(NEWEST, chosen, size=2)] == ["gone on"]
        found = rows_from_newest(NEWEST, chosen, size=2, is_behind=False)
        assert found == list(NEWEST.filter(chosen.condition)[:3])
        assert [one.title for one in found or ()] == ["gone on", "old", "old"]
        behind = NEWEST.filter(last_at__lt=NOON)
        assert rows_from_newest(behind, chosen, size=2) == list(behind.filter(chosen.condition))


@pytest.mark.parametrize("name", ["version", "model", "provider", "error"])
def test_the_newest_are_found_by_an_index_and_what_went_on_later_too(name: str):
    forget_sizes([Conversation._meta.db_table, Run._meta.db_table])
    version = make_version()
    talks(3, title="asked", copilot=version.copilot)
    runs("asked", copilot_version=version, model="1", provider="1", error_code="1")
    newest = BY_NAME[name].newest
    assert newest is not None
    with CaptureQueriesContext(connection) as queries:
        ids = list(newest("1", TOP))
    assert ids == list(NEWEST.values_list("pk", flat=True))
    assert len(queries) == (2 if name == "version" else 1)
    after = Conversation.objects.get(pk=ids[0])
    assert "conversation_recent" in _plan_of(gone_on(NEWEST, below=ids[-1], after=after))
    for query in queries.captured_queries:
        assert f"run_of_{name}" in _explained(query["sql"])


def _explained(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"{'EXPLAIN' if IS_POSTGRESQL else 'EXPLAIN QUERY PLAN'} {statement}")
        return str(cursor.fetchall())


@pytest.mark.parametrize("name", ["version", "model", "provider", "error"])
def test_of_a_value_as_many_requests_are_read_as_fill_a_page(name: str, monkeypatch):
    version = make_version()
    talks(9, title="asked", copilot=version.copilot)
    runs("asked", 2, copilot_version=version, model="1", provider="1", error_code="1")
    monkeypatch.setattr(entries, "MOST_ENTRIES", 5)
    newest = BY_NAME[name].newest
    assert newest is not None
    assert list(newest("1", TOP)) == list(NEWEST.values_list("pk", flat=True)[:3])


def test_of_a_number_no_version_has_more_requests_read_than_fill_a_page(monkeypatch):
    """One that was asked today, but seldom, and others that were asked often, long ago."""
    often, less, lately = (make_version(slug=slug) for slug in ("often", "less", "lately"))
    talks(3, title="less", days_ago=9, copilot=less.copilot)
    talks(9, title="often", days_ago=8, copilot=often.copilot)
    talks(9, title="other", copilot=often.copilot)
    talks(1, title="lately", copilot=lately.copilot)
    for version in (often, less, lately):
        runs(version.copilot.slug, copilot_version=version)
    monkeypatch.setattr(finding, "FIRST_WINDOW", 2)
    monkeypatch.setattr(entries, "MOST_ENTRIES", 4)
    chosen = read_filters({"version": "1"})
    ids = list(newest_of_version("1", TOP))
    assert ids == list(NEWEST.exclude(title="other").values_list("pk", flat=True)[:5])
    found = rows_from_newest(NEWEST, chosen, size=2, is_behind=False)
    assert [one.title for one in found or ()] == ["lately", "often", "often"]
    assert found == list(NEWEST.filter(chosen.condition)[:3])


def test_many_versions_of_a_number_are_not_asked_one_by_one(monkeypatch):
    for slug in ("a", "b", "c"):
        version = make_version(slug=slug)
        talks(1, title=slug, copilot=version.copilot)
        runs(slug, copilot_version=version)
    assert len(newest_of_version("1", TOP)) == 3
    monkeypatch.setattr(entries, "MOST_VERSIONS", 2)
    assert list(newest_of_version("1", TOP)) == []


def test_a_conversation_that_went_on_stands_before_newer_ones(monkeypatch):
    version = make_version()
    talks(1, title="gone on", days_ago=20, copilot=version.copilot)
    talks(1, title="gone on by another", days_ago=19, copilot=version.copilot)
    talks(5, title="old", days_ago=9, copilot=version.copilot)
    talks(9, title="new", copilot=version.copilot)
    later = NOON - timedelta(days=8)
    Conversation.objects.filter(title__startswith="gone on").update(last_at=later)
    for title in ("gone on", "old"):
        runs(title, copilot_version=version, model="m")
    monkeypatch.setattr(finding, "FIRST_WINDOW", 3)
    monkeypatch.setattr(entries, "MOST_ENTRIES", 4)
    for given in ({"version": "1"}, {"model": "m"}, {"version": "1", "model": "m"}):
        chosen = read_filters(given)
        found = rows_from_newest(NEWEST, chosen, size=2, is_behind=False)
        assert [one.title for one in found or ()] == ["gone on", "old", "old"]
        assert found == list(NEWEST.filter(chosen.condition)[:3])


@pytest.mark.parametrize(
    "given",
    [{"tokens-from": "0"}, {"version": "7"}, {"version": "1", "tokens-from": "9"}, {"file": "no"}],
)
def test_where_no_index_can_say_or_a_page_would_not_be_full_others_look(given: dict[str, str]):
    talks(4, copilot=make_version().copilot, title="asked")
    runs("asked", copilot_version=make_version())
    assert rows_from_newest(NEWEST, read_filters(given), size=1) is None
    oldest_first = NEWEST.order_by("last_at", "id")
    assert rows_from_newest(oldest_first, read_filters({"version": "1"}), size=1) is None
