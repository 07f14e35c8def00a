"""Limits hold for two workers over Redis and PostgreSQL; nothing is timed."""

import pytest

from benchmarks import limits
from benchmarks.limits import Held, hold


@pytest.mark.nightly
@pytest.mark.redis
@pytest.mark.postgres
def test_nobody_is_let_in_beyond_a_limit_and_everybody_up_to_it():
    assert [(one.limit, one.most, one.let_in) for one in hold(20) if not one.is_kept] == []


@pytest.mark.parametrize(
    ("let_in", "others", "passed"),
    [(100, {}, True), (102, {}, True), (98, {}, True), (103, {}, False), (97, {}, False),
     (100, {503: 1}, False)],
)  # fmt: skip
def test_the_program_says_what_it_saw(monkeypatch, capsys, let_in, others, passed):
    monkeypatch.setattr(limits, "hold", lambda users: [Held("a", users, 100, let_in, others)])
    assert limits.main(["--users", "300"]) == int(not passed)
    assert capsys.readouterr().out.splitlines()[-1] == ("PASS" if passed else "FAIL")
