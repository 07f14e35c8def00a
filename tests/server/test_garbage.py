"""The garbage collector of a server does not look at what stays."""

from collections.abc import Iterator
import gc

import pytest

from copilot_admin.server.garbage import NEW_OBJECTS, spare_what_stays


@pytest.fixture
def _as_before() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("_as_before")
def test_what_is_there_is_out_of_sight_and_what_comes_is_looked_at_more_rarely():
    kept = [object]
    assert any(one is kept for one in gc.get_objects())
    spare_what_stays()
    assert not any(one is kept for one in gc.get_objects())
    assert gc.get_threshold() == (NEW_OBJECTS, 10, 10)
    assert gc.isenabled()
