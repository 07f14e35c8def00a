"""What a tile says of the period before."""

from decimal import Decimal

import pytest

from copilot_admin.admin.figures.cells import change


@pytest.mark.parametrize(
    ("now", "before", "words"),
    [
        (3, 2, "50 % more"),
        (1, 2, "50 % less"),
        (1001, 1000, "< 1 % more"),
        (Decimal("0.5"), Decimal("0.25"), "100 % more"),
        (2, 2, "as before"),
        (2, 0, ""),  # "before: 0" stands beside it
        (0, 0, ""),
        (None, 2, ""),
        (2, None, ""),
    ],
)
def test_what_changed_is_said_in_per_cent_of_something(now, before, words):
    assert change(now, before) == words
