"""Gauges of a server process."""

from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection
import pytest

from copilot_admin.server.periodic_tasks import read_gauges
from copilot_admin.storage.spool import SPOOL

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def spool(settings: Any, tmp_path: Any) -> None:
    """An empty spool."""
    settings.DATA_DIR = tmp_path


@pytest.mark.usefixtures("spool")
def test_the_spool_is_counted_without_what_cannot_be_stored(settings: Any):
    SPOOL.put(UUID(int=1), {"a": 1})
    SPOOL.put(UUID(int=2), {"b": 2})
    folder = Path(settings.DATA_DIR) / "spool"
    SPOOL.reject(folder / f"{UUID(int=1)}.json")
    (folder / "README").write_text("of somebody else")
    found = read_gauges()
    names = ("files", "bytes", "set_aside_files")
    size = len('{"b": 2}')
    assert [found[f"spool_{name}"][""] for name in names] == [1, size, 1]
    assert found["limit_used"]["spool_bytes"] == size


@pytest.mark.database
def test_postgresql_has_a_pool_and_sqlite_has_none():
    found = read_gauges()
    has_pool = connection.vendor == "postgresql"
    assert ("database_connections" in found) is has_pool
    if has_pool:
        assert set(found["database_connections"]) == {"idle", "used"}
        assert found["database_waiting"] == {"": 0}
