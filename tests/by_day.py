"""A plugin of pytest: of a grid whose cases ask one rule some are tried by day, and by night all.

`@pytest.mark.by_day(4)` over a test marks all but four of its cases `nightly`. Which those are follows
from their names, so that the same are tried each day and on every machine. What has to hold for each
of a kind (every event, every feature, every address of a role) bears no such mark.
"""

from collections import defaultdict
from collections.abc import Iterable
from hashlib import sha256

import pytest

MARK = "by_day"


@pytest.hookimpl(tryfirst=True)  # before it is chosen by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves of every grid so many by day as its mark says."""
    grids: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker(MARK) and not item.get_closest_marker("nightly"):
            grids[item.nodeid.partition("[")[0]].append(item)
    for grid in grids.values():
        by_night(grid)


def by_night(grid: Iterable[pytest.Item]) -> None:
    """Marks all but some of a grid."""
    drawn = sorted(grid, key=lambda item: sha256(item.nodeid.encode()).digest())
    mark = drawn[0].get_closest_marker(MARK)
    assert mark is not None
    (most,) = mark.args
    for item in drawn[most:]:
        item.add_marker(pytest.mark.nightly)
