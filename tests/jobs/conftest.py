"""Fixtures of background jobs."""

import pytest

from copilot_admin.jobs import tasks


@pytest.fixture(autouse=True)
def _background_is_open() -> None:
    """Accept tasks: another test may have stopped a server."""
    tasks.start()
