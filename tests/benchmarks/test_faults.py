"""Short runs of the fault programs: a killed server, malformed bodies, clients that leave."""

from random import Random

import pytest

from benchmarks.aborts import leave_again_and_again
from benchmarks.hostile import post_hostile_bodies
from benchmarks.kill import kill_again_and_again

pytestmark = pytest.mark.nightly


def test_a_killed_server_loses_no_finished_run_and_owns_up_to_the_others():
    (killed,) = kill_again_and_again(times=1, streams=20, random=Random(1))
    assert killed.problems == ()
    assert killed.finished
    assert killed.cut


def test_malformed_bodies_are_refused_or_answered_and_recorded():
    posted = post_hostile_bodies(count=200, random=Random(2))
    assert posted.problems == ()
    assert set(posted.statuses) == {200, 400, 422}


def test_nothing_remains_of_clients_that_left():
    left = leave_again_and_again(count=100, random=Random(3))
    assert left.problems == ()
    assert left.outcomes["cancelled"]
