"""Gauges of a server process."""

import os
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db import connection
import pytest

from copilot_admin.component_calls.call import MAX_CALLS
from copilot_admin.config.observability import MetricsAccess
from copilot_admin.server.periodic_tasks import LIMITS, read_gauges
from copilot_admin.server.serve import METRICS_DIRECTORY, drop_gauges, shared_metrics
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import READER, WRITER
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def spool(settings: Any, tmp_path: Any) -> None:
    """An empty spool."""
    settings.DATA_DIR = tmp_path


@pytest.mark.usefixtures("spool")
def test_an_idle_server_waits_for_nothing():
    assert all(one.wait_until_idle(timeout=HANGS_SECONDS) for one in (WRITER, READER))
    found = read_gauges()
    idle = ("streams", "spool_files", "spool_bytes", "journal_lag_seconds", "spool_set_aside_files")
    assert {name: found[name][""] for name in idle} == dict.fromkeys(idle, 0)
    assert set(found["limit_used"].values()) == {0}
    limits = found["limit"]
    assert limits.keys() == LIMITS.keys()
    assert (limits["component_calls"], limits["spool_bytes"]) == (MAX_CALLS, SPOOL.max_bytes)


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


def test_workers_share_a_directory_that_is_removed_with_them(settings, monkeypatch):
    monkeypatch.delenv(METRICS_DIRECTORY, raising=False)
    with shared_metrics():
        assert METRICS_DIRECTORY not in os.environ  # nobody reads metrics
    settings.METRICS = MetricsAccess.model_validate({"networks": "127.0.0.1"})
    with shared_metrics():
        folder = Path(os.environ[METRICS_DIRECTORY])
        for name in ("gauge_livesum_7.db", "counter_7.db"):
            (folder / name).touch()
        drop_gauges(7)
        assert [path.name for path in folder.glob("*.db")] == ["counter_7.db"]
    assert not folder.exists()
    assert METRICS_DIRECTORY not in os.environ
    drop_gauges(7)
