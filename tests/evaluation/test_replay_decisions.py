"""The states of a replay, its bound on cost and its summary."""

from decimal import Decimal

import pytest

from copilot_admin.evaluation.replay_decisions import (
    Next,
    ReplayWish,
    Spent,
    Tally,
    after,
    bound_sentence,
    cost_sentence,
    is_slower,
    next_question,
    percent,
    summary,
)
from copilot_admin.models import ReplayState

W, R, P, D, S, C = (
    ReplayState.WAITING,
    ReplayState.RUNNING,
    ReplayState.PAUSED,
    ReplayState.DONE,
    ReplayState.STOPPED,
    ReplayState.COST_BOUND,
)


@pytest.mark.parametrize(
    ("wish", "states"),
    [
        (ReplayWish.PAUSE, {W: P, R: P, P: None, D: None, S: None, C: None}),
        (ReplayWish.RESUME, {W: None, R: None, P: W, D: None, S: None, C: W}),
        (ReplayWish.STOP, {W: S, R: S, P: S, D: None, S: None, C: S}),
    ],
)
def test_every_wish_in_every_state(wish, states):
    assert {state: after(state, wish) for state in ReplayState} == states


@pytest.mark.parametrize(
    ("spent", "most", "expected"),
    [
        (Spent(known=Decimal(99)), None, Next.ASK),
        (Spent(), Decimal(0), Next.NEVER),
        (Spent(), Decimal("0.01"), Next.ASK),
        (Spent(known=Decimal(1), n_known=1), Decimal(1), Next.NEVER),
        (Spent(known=Decimal("0.99"), n_known=1), Decimal(1), Next.ASK),
        (Spent(under_way=1), Decimal(1), Next.LATER),
        (Spent(known=Decimal("0.2"), n_known=1, under_way=1), Decimal("0.4"), Next.LATER),
        (Spent(known=Decimal("0.2"), n_known=1, under_way=1), Decimal("0.41"), Next.ASK),
        (Spent(n_unknown=5), Decimal(1), Next.ASK),
    ],
)
def test_the_bound_is_looked_at_before_each_question(spent, most, expected):
    assert next_question(spent, most) is expected


@pytest.mark.parametrize(
    ("ms", "before", "expected"), [(200, 100, False), (201, 100, True), (5, 0, None)]
)
def test_slower_is_more_than_twice_as_long(ms, before, expected):
    assert is_slower(ms, before) is expected


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [(100, 82, "−18 %"), (100, 100, "+0 %"), (100, 250, "+150 %"), (0, 5, "")],
)
def test_a_change_is_told_in_per_cent(before, now, expected):
    assert percent(before, now) == expected


def test_a_summary_says_what_changed_what_is_slower_and_what_it_costs():
    tally = Tally(
        total=40,
        compared=40,
        changed=12,
        slower=3,
        priced=40,
        cost_before=Decimal(100),
        cost_after=Decimal(82),
    )
    assert summary(tally) == "12 of 40 changed, 3 slower than twice, cost −18 %"


def test_a_summary_says_what_is_unknown_and_what_failed():
    some = Tally(
        total=4,
        compared=3,
        changed=1,
        priced=2,
        cost_before=Decimal(1),
        cost_after=Decimal(2),
        tokens_before=10,
        tokens_after=11,
        failed=1,
        not_as_expected=2,
    )
    assert summary(some) == (
        "1 of 3 changed, cost +100 % (of 1 unknown), tokens +10 %, 2 not as expected, 1 failed"
    )
    assert summary(Tally(total=1, compared=1)) == "0 of 1 changed, cost unknown"
    free = Tally(total=1, compared=1, priced=1, cost_after=Decimal("0.5"))
    assert summary(free) == "0 of 1 changed, cost $0.50, before nothing"
    assert (
        summary(Tally(total=1, compared=1, priced=1)) == "0 of 1 changed, cost nothing, as before"
    )
    assert summary(Tally(total=2)) == "2 answered, with nothing to compare them to"
    assert summary(Tally(total=2, unfinished=2)) == "Nothing was asked yet"


def test_costs_say_what_nobody_knows():
    assert cost_sentence(Spent(known=Decimal("0.5"))) == "$0.50 so far."
    assert bound_sentence(Spent(known=Decimal("0.5"), n_unknown=2), Decimal("0.4")) == (
        "It stopped at its bound of $0.40. Raise the bound to go on. $0.50 so far. "
        "Of 2 answers the cost is unknown, and is not in it."
    )
