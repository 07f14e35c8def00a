"""What transactions do last is done in one order."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
import threading

from django.db import connection
import pytest

from copilot_admin.copilots.users import AskingUser
from copilot_admin.models import DailyTotal, EndUser, Outcome
from copilot_admin.storage.blobs import load, save
from copilot_admin.storage.held_back import (
    FirstThen,
    InOrder,
    Number,
    do_first,
    do_held,
    held_apart,
    hold_back,
    hold_sum,
    holding_back,
)
from copilot_admin.storage.packing import Packed, pack
from copilot_admin.storage.writer import Writer
from copilot_admin.transcripts.store.usage import CountedRun, UsageKey, count
from copilot_admin.transcripts.store.users import written
from tests.factories import make_published
from tests.storage.test_writer import at_once
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


def test_what_many_add_to_one_row_is_written_once():
    done: list[object] = []

    def change(numbers: Mapping[str, Number]) -> None:
        done.append(dict(numbers))

    with holding_back() as do_the_rest:
        hold_sum((1,), {"runs": 1, "cost": Decimal("0.5")}, change)
        hold_back((0,), lambda: done.append("before"))
        hold_sum((2,), {"runs": 5}, change)
        with held_apart():
            hold_sum((1,), {"runs": 2, "cost": 0}, change)
        with pytest.raises(ValueError, match="broke"), held_apart():
            hold_sum((1,), {"runs": 100, "cost": 0}, change)
            raise ValueError("broke")
        hold_sum((1,), {"runs": -1, "cost": Decimal("0.25")}, change)
        do_the_rest()
    assert done == ["before", {"runs": 2, "cost": Decimal("0.75")}, {"runs": 5}]
    hold_sum((1,), {"runs": 1}, change)
    assert done[3:] == [{"runs": 1}]


def test_where_nothing_is_held_back_it_is_done_at_once():
    done: list[int] = []
    hold_back((0,), lambda: done.append(1))
    do_held()
    with held_apart():
        hold_back((0,), lambda: done.append(2))
        assert done == [1]
    assert done == [1, 2]


def test_of_a_savepoint_that_is_undone_nothing_is_done_and_the_rest_at_the_end():
    done: list[int] = []
    with holding_back() as do_the_rest:
        hold_back((3,), lambda: done.append(3))
        with pytest.raises(ValueError, match="broke"), held_apart():
            hold_back((1,), lambda: done.append(1))
            raise ValueError("broke")
        with held_apart():
            hold_back((2,), lambda: done.append(2))
        assert done == []
        do_the_rest()
    assert done == [2, 3]


@pytest.mark.django_db
def test_what_jobs_begin_with_is_done_in_the_order_of_places_and_again_with_each_job():
    done: list[str] = []
    jobs = [
        FirstThen((place,), partial(done.append, f"first {place}"), partial(done.append, place))
        for place in "ba"
    ]
    do_first([*jobs, lambda: done.append("none")])
    assert done == ["first a", "first b"]
    for job in jobs:
        job()
    assert done[2:] == ["first b", "b", "first a", "a"]


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
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer")
class TestTwoWriters:
    """They do the same in another order, and none waits for the other."""

    def test_count_the_same_copilots(self):
        one, other = make_published().pk, make_published().pk
        in_both_orders(lambda: count_run(one), lambda: count_run(other))
        counted = DailyTotal.objects.order_by("copilot_id").values_list("copilot_id", "runs")
        assert list(counted) == [(one, 2), (other, 2)]

    def test_meet_the_same_users(self):
        ada, eve = AskingUser(id="ada"), AskingUser(id="eve")
        first, again = AT - timedelta(days=1), AT
        for user in (ada, eve):
            written(user, at=first)
        in_both_orders(lambda: written(ada, at=again), lambda: written(eve, at=again))
        assert_known(again)

    def test_bring_the_same_big_contents_crosswise(self):
        """Each stores in two jobs of one transaction what the other stores in the other order."""
        one, other = (pack([f"{word} {n}" * 40 for n in range(99)]) for word in "ab")
        both = threading.Barrier(2)
        begun: list[str] = []

        def stored(packed: Packed, *, meets: bool) -> None:
            begun.append(packed.sha)
            save([packed])
            if meets:
                both.wait(HANGS_SECONDS)

        def job(packed: Packed, place: int) -> InOrder[None]:
            do = partial(stored, packed, meets=not place)
            return InOrder((place,), do, lambda: [packed])

        writers = Writer("one"), Writer("other")
        futures = [
            future
            for writer, packs in zip(writers, ((one, other), (other, one)), strict=True)
            for future in at_once(writer, *(job(each, n) for n, each in enumerate(packs)))
        ]
        for future in futures:
            future.result(HANGS_SECONDS)
        assert all(writer.stop(timeout=HANGS_SECONDS) for writer in writers)
        assert sorted(begun) == sorted([one.sha, other.sha] * 2)  # none was tried again
        assert set(load([one.sha, other.sha])) == {one.sha, other.sha}

    def test_wait_for_no_user_whom_the_other_has_made_in_its_batch(self):
        """Each makes one before its batch, and asks for that of the other within it."""
        made = threading.Barrier(2)

        def job(mine: AskingUser, theirs: AskingUser) -> FirstThen[None]:
            def meet() -> None:
                made.wait(HANGS_SECONDS)
                written(theirs, at=AT)
                made.wait(HANGS_SECONDS)  # within a transaction that has not ended

            return FirstThen((mine.id,), partial(written, mine, at=AT), meet)

        ada, eve = AskingUser(id="ada"), AskingUser(id="eve")
        writers = Writer("one"), Writer("other")
        jobs = job(ada, eve), job(eve, ada)
        futures = [writer.submit(one) for writer, one in zip(writers, jobs, strict=True)]
        for future in futures:
            future.result(HANGS_SECONDS)
        assert all(writer.stop(timeout=HANGS_SECONDS) for writer in writers)
        assert_known(AT)


def assert_known(at: datetime) -> None:
    """Both were seen within this hour."""
    rows = EndUser.objects.order_by("identifier").values_list("identifier", "last_at")
    assert list(rows) == [("ada", at), ("eve", at)]


AT = datetime(2026, 3, 2, 10, tzinfo=UTC)


def in_both_orders(one: Callable[[], object], other: Callable[[], object]) -> None:
    """Has one writer do this and that, one that and this: each its second when both did a first."""
    both = threading.Barrier(2)
    begun: list[int] = []

    def job(place: int) -> None:
        begun.append(place)
        first, then = (one, other) if place else (other, one)
        first()
        both.wait(HANGS_SECONDS)
        then()

    writers = Writer("one"), Writer("other")
    futures = [writer.submit(partial(job, place)) for place, writer in enumerate(writers)]
    for future in futures:
        future.result(HANGS_SECONDS)
    assert all(writer.stop(timeout=HANGS_SECONDS) for writer in writers)
    assert sorted(begun) == [0, 1]  # no transaction was ended and tried again


def count_run(copilot_id: int) -> None:
    asked = UsageKey(at=AT, copilot_id=copilot_id, version=1, model="m", principal="key:1")
    count(asked, CountedRun(outcome=Outcome.COMPLETED))
