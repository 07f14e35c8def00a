"""What transactions do last is done in one order."""

from datetime import UTC, datetime
import threading

from django.db import connection
import pytest

from copilot_admin.journal.usage import Asked, CountedRun, count
from copilot_admin.models import DailyTotal, Outcome
from copilot_admin.storage.held_back import at_once, do_held, hold_back, holding_back
from copilot_admin.storage.writer import Writer
from tests.factories import make_published
from tests.waiting import HANGS_SECONDS


def test_what_is_held_back_is_done_last_in_the_order_of_places():
    done: list[str] = []
    with holding_back() as do_the_rest:
        hold_back((1, "b"), lambda: done.append("1b, first"))
        hold_back((1, "a"), lambda: done.append("1a"))
        hold_back((1, "b"), lambda: done.append("1b, second"))
        hold_back((0, "z"), lambda: done.append("0z"))
        done.append("job")
        do_the_rest()
    assert done == ["job", "0z", "1a", "1b, first", "1b, second"]


def test_where_nothing_is_held_back_it_is_done_at_once():
    done: list[int] = []
    hold_back((0,), lambda: done.append(1))
    with holding_back(), at_once():
        hold_back((0,), lambda: done.append(2))
        do_held()
    assert done == [1, 2]


def test_what_was_held_so_far_is_done_once_and_what_comes_later_is_held_again():
    done: list[int] = []
    with holding_back() as do_the_rest:
        hold_back((0,), lambda: done.append(1))
        do_held()
        hold_back((0,), lambda: done.append(2))
        assert done == [1]
        do_the_rest()
    assert done == [1, 2]


def test_of_a_job_that_fails_nothing_is_done():
    done: list[int] = []
    with pytest.raises(ValueError, match="broke"), holding_back():
        hold_back((0,), lambda: done.append(1))
        raise ValueError("broke")
    hold_back((0,), lambda: done.append(2))
    assert done == [2]


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_two_writers_count_the_same_copilots_and_none_waits_for_the_other():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer")
    one, other = make_published().pk, make_published().pk
    both = threading.Barrier(2)
    begun: list[int] = []

    def job(first: int, then: int) -> None:
        begun.append(first)
        _count(first)
        both.wait(HANGS_SECONDS)  # the other one has counted the other copilot
        _count(then)

    writers = Writer("one"), Writer("other")
    jobs = (lambda: job(one, other)), (lambda: job(other, one))
    futures = [writer.submit(work) for writer, work in zip(writers, jobs, strict=True)]
    for future in futures:
        future.result(HANGS_SECONDS)
    assert all(writer.stop(timeout=HANGS_SECONDS) for writer in writers)
    assert sorted(begun) == sorted([one, other])  # no transaction was ended and tried again
    counted = DailyTotal.objects.order_by("copilot_id").values_list("copilot_id", "runs")
    assert list(counted) == sorted([(one, 2), (other, 2)])


def _count(copilot_id: int) -> None:
    at = datetime(2026, 3, 2, 10, tzinfo=UTC)
    asked = Asked(at=at, copilot_id=copilot_id, version=1, model="m", principal="key:1")
    count(asked, CountedRun(outcome=Outcome.COMPLETED))
