"""RunTimes at which somebody was last heard of who is not heard of any more."""

from datetime import timedelta

import pytest

# The second one was written before the clock was set back.
when_missed = pytest.mark.parametrize(
    "since", [timedelta(minutes=-1), timedelta(days=1)], ids=["long ago", "ahead"]
)
