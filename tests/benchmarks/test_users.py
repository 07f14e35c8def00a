"""A thousand users: the trial in small, and whether its checks can fail. Nothing is timed."""

from collections import Counter
import zlib

import pytest

from benchmarks.canaries import canaries_in, canary_of
from benchmarks.servers import SMALL
from benchmarks.users import __main__ as program
from benchmarks.users import books, checks, rows, traces
from benchmarks.users.checks import Check
from benchmarks.users.crowd import Asked, Sizes, of_tokens
from benchmarks.users.people import A_DAY, A_MINUTE, AT_ONCE, TOKENS_A_DAY, Habit, people
from benchmarks.users.trial import Outcome, Trial, try_all

ANNA, BEN = people(2, seed=1, key=None)


@pytest.mark.nightly
def test_nobody_is_mixed_up_limits_hold_all_count_the_same_and_one_is_gone():
    outcome = try_all(Trial(users=50, seconds=5, deployment=SMALL))
    assert [one for one in outcome.checks if not one.is_kept] == []
    assert outcome.questions > 200


def asked(person=ANNA, **changes):
    usual = {
        "copilot": "bench", "chat": 1, "limit": "", "status": 200, "run": "a1", "tokens": 54,
        "is_as_scripted": True, "strangers": frozenset(),
    }  # fmt: skip
    return Asked(person=person, **(usual | changes))


def failing(found):
    return [one.what for one in found if not one.is_kept]


@pytest.mark.parametrize(
    ("answer", "failed"),
    [
        ({}, []),
        ({"strangers": frozenset({BEN.canary})}, ["answers with the words of another user"]),
        ({"is_as_scripted": False}, ["answers as the upstream gave them to this user"]),
        ({"status": 429}, ["questions below every limit that were let in"]),
        ({"status": 500, "limit": "some"}, ["other statuses than 200 and 429"]),
    ],
)
def test_what_comes_over_the_wire_is_the_users_own(answer, failed):
    assert failing(checks.heard([asked(), asked(**answer)])) == failed


def test_words_belong_to_one_user_and_are_found_in_bytes():
    assert canary_of(ANNA.id) == ANNA.canary != BEN.canary
    said = f'data: {{"delta": "x{ANNA.canary}"}} {BEN.canary}'.encode()
    assert canaries_in(said) == {ANNA.canary, BEN.canary}


def test_a_message_of_another_user_is_found_in_rows_and_transcripts():
    own, mixed = (ANNA.id, ANNA.canary.encode()), (ANNA.id, f"I am {BEN.canary}".encode())
    assert rows.foreign([own, (BEN.id, b"nobody's")]) == 0
    assert rows.foreign([own, mixed]) == 1
    transcripts = {1: (ANNA.id, ANNA.canary), 2: (BEN.id, ANNA.canary)}
    assert failing(rows.told(transcripts, [asked(), asked(BEN, chat=2)])) == [
        "transcripts with the words of another user"
    ]
    assert failing(rows.told({1: (ANNA.id, "")}, [asked(), asked(BEN, chat=2)])) == [
        "users with as many transcripts as chats"
    ]


SIZES = Sizes(seats=50, a_day=100, of_key=100)
LET_IN = {
    "answers at once, of a copilot": 50,
    "requests a day, of a copilot": 100,
    "requests a day, of a key": 100,
}
OF_USERS = {
    Habit.BURST: A_MINUTE,
    Habit.DAILY: A_DAY,
    Habit.TALKER: of_tokens(TOKENS_A_DAY),
    Habit.PARALLEL: AT_ONCE,
}


@pytest.mark.parametrize(
    ("limit", "more", "is_kept"),
    [("requests a day, of a copilot", 0, True), ("requests a day, of a copilot", 2, True),
     ("requests a day, of a copilot", 3, False), ("requests a day, of a key", -3, False),
     ("answers at once, of a copilot", 2, False)],
)  # fmt: skip
def test_a_limit_is_kept_within_two_percent(limit, more, is_kept):
    shared = LET_IN | {limit: LET_IN[limit] + more}
    told = [asked(limit=name) for name, number in shared.items() for _ in range(number)]
    assert failing(checks.limits(told, [], SIZES)) == ([] if is_kept else [limit])


@pytest.mark.parametrize("habit", OF_USERS)
def test_a_limit_of_a_user_is_his_alone(habit):
    one = people(1, seed=1, key=None)[0]
    one = type(one)(number=0, id=one.id, habit=habit)
    own = [asked(one, limit=habit.value) for _ in range(OF_USERS[habit])]
    shared = [asked(limit=name) for name, number in LET_IN.items() for _ in range(number)]
    assert failing(checks.limits([*own, *shared], [one], SIZES)) == []
    assert failing(checks.limits([*own, own[0], *shared], [one], SIZES)) == [habit.value]


def test_whoever_counts_something_else_is_named():
    told = [asked(), asked(status=429)]
    honest = books.Books(
        "rows", Counter({("bench", "completed"): 1, ("bench", "refused"): 1}), Counter(bench=54)
    )
    liar = books.Books("lines", Counter({("bench", "completed"): 2}), Counter(bench=53))
    assert failing(checks.agreement(told, [honest, honest])) == []
    assert failing(checks.agreement(told, [honest, liar])) == [
        "lines: by copilot and outcome, as rows", "tokens by lines", "lines: tokens by copilot, as rows"
    ]  # fmt: skip
    assert failing(checks.agreement([*told, asked()], [honest])) == [
        "questions by rows", "rows: by copilot and outcome, as clients"
    ]  # fmt: skip


def test_figures_and_lines_are_read_as_they_are_written():
    page = """# HELP copilot_runs_total Questions
copilot_runs_total{copilot="bench",outcome="completed"} 1.2e+03
copilot_runs_total{copilot="bench",outcome="refused"} 3.0
copilot_tokens_total{copilot="bench",kind="input"} 50.0
copilot_tokens_total{copilot="bench",kind="output"} 4.0
"""
    assert books.of_metrics(page) == books.Books(
        "/metrics",
        Counter({("bench", "completed"): 1200, ("bench", "refused"): 3}),
        Counter(bench=54),
    )
    log = """starts
{"logger": "uvicorn.error", "message": "up"}
{"logger": "copilot_admin.runs", "copilot": "bench", "outcome": "completed", "user": "a", "input_tokens": 50}
"""
    lines = books.lines_in(log)
    assert books.of_lines(lines) == books.Books(
        "log lines", Counter({("bench", "completed"): 1}), Counter(bench=50)
    )
    assert books.users_of_lines(lines) == {("a", "let in"): 1}


def test_a_word_is_found_plain_and_packed():
    words = [ANNA.canary]
    data = f"row {ANNA.canary}".encode()
    assert traces.is_in(data, words)
    assert traces.is_in(b"head" + zlib.compress(data * 20) + b"tail", words)
    assert not traces.is_in(zlib.compress(BEN.canary.encode()) + b"\x78\x9cnone", words)


@pytest.mark.parametrize(("found", "passed"), [(0, True), (1, False)])
def test_the_program_says_what_it_saw(monkeypatch, capsys, found, passed):
    seen = Check(what="mixed", wanted=0, found=found)
    outcome = Outcome(checks=[seen], questions=10, seconds=1.0, cpu_ms=2.0)
    monkeypatch.setattr(program, "try_all", lambda trial: outcome)
    assert program.main(["--small", "--users", "50"]) == int(not passed)
    said = capsys.readouterr().out.splitlines()
    assert said[1].split() == ["mixed", "0", str(found), "yes" if passed else "NO"]
    assert said[-1] == ("PASS" if passed else "FAIL")
