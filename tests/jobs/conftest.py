"""What the tests of background work share."""

import pytest

from copilot_admin.jobs import background


@pytest.fixture(autouse=True)
def _background_is_open() -> None:
    """Another test of this process may have stopped a server, and the background with it."""
    background.start()
