"""What the tests of the service share."""

from collections.abc import Iterator

import pytest

from copilot_admin.writer import READER, WRITER


@pytest.fixture(autouse=True, scope="session")
def _database_threads_end(django_db_setup: None) -> Iterator[None]:
    """Ends the threads of the journal before their database is dropped."""
    yield
    for thread in (WRITER, READER):
        assert thread.stop(timeout=10)
