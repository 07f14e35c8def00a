"""What the figures say of a server at the moment."""

import os
from pathlib import Path
import tempfile
from typing import Any
from uuid import UUID

from django.db import connection
import pytest

from copilot_admin.component_calls.call import MOST_CALLS
from copilot_admin.config.figure_readers import figure_readers
from copilot_admin.server import readings as reading
from copilot_admin.server.readings import LIMITS, readings, refresh
from copilot_admin.server.shared_figures import (
    FOLDER,
    LOCK,
    PREFIX,
    counting_together,
    forget_process,
)
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import READER, WRITER
from copilot_admin.telemetry import metrics
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def spool(settings: Any, tmp_path: Any) -> None:
    """An empty spool."""
    settings.DATA_DIR = tmp_path


@pytest.mark.usefixtures("spool")
def test_a_server_at_rest_has_nothing_to_do():
    assert all(one.wait_until_idle(timeout=HANGS_SECONDS) for one in (WRITER, READER))
    found = readings()
    quiet = (
        "streams",
        "journal_unkept_runs",
        "spool_files",
        "spool_bytes",
        "journal_lag_seconds",
        "spool_set_aside_files",
    )
    assert {name: found[f"copilot_{name}"].values[""] for name in quiet} == dict.fromkeys(quiet, 0)
    assert set(found["copilot_limit_used"].values.values()) == {0}
    limits = found["copilot_limit"].values
    assert limits.keys() == LIMITS.keys()
    assert (limits["component_calls"], limits["spool_bytes"]) == (MOST_CALLS, SPOOL.max_bytes)


@pytest.mark.usefixtures("spool")
def test_what_is_spooled_is_counted_and_measured():
    SPOOL.put(UUID(int=1), {"a": 1})
    SPOOL.put(UUID(int=2), {"b": 2})
    found = readings()
    assert found["copilot_spool_files"].values[""] == 2
    assert found["copilot_spool_bytes"].values[""] == 2 * len('{"a": 1}')
    assert found["copilot_limit_used"].values["spool_bytes"] == 2 * len('{"a": 1}')


@pytest.mark.usefixtures("spool")
def test_what_is_set_aside_or_somebody_elses_waits_for_nothing(settings: Any):
    """An alert that something waits in the spool would go on for ever."""
    SPOOL.put(UUID(int=1), {"a": 1})
    folder = Path(settings.DATA_DIR) / "spool"
    SPOOL.reject(folder / f"{UUID(int=1)}.json")
    (folder / "lost+found").mkdir()
    (folder / "README").write_text("not ours")
    found = readings()
    names = ("files", "bytes", "set_aside_files")
    assert [found[f"copilot_spool_{name}"].values[""] for name in names] == [0, 0, 1]


@pytest.mark.database
def test_postgresql_has_a_pool_and_sqlite_has_none():
    found = readings()
    has_pool = connection.vendor == "postgresql"
    assert ("copilot_database_connections" in found) is has_pool
    if has_pool:
        assert set(found["copilot_database_connections"].values) == {"idle", "used"}
        assert found["copilot_database_waiting"].values == {"": 0}


def test_only_a_server_that_counts_is_read(monkeypatch):
    told: list[Any] = []

    class Figures:
        gauge = told.append

    monkeypatch.setattr(metrics, "_counting", [])
    refresh()
    assert told == []
    monkeypatch.setattr(metrics, "_counting", [Figures()])
    monkeypatch.setattr(reading, "readings", lambda: "what is read")
    refresh()
    assert told == ["what is read"]


def test_workers_count_in_a_folder_that_goes_with_them(settings, monkeypatch):
    monkeypatch.delenv(FOLDER, raising=False)
    with counting_together():
        assert FOLDER not in os.environ
    settings.METRICS_READERS = figure_readers("", ("127.0.0.1",))
    with counting_together():
        folder = Path(os.environ[FOLDER])
        assert folder.is_dir()
        (folder / "gauge_livesum_7.db").touch()
        (folder / "counter_7.db").touch()
        forget_process(7)
        assert [path.name for path in folder.glob("*.db")] == ["counter_7.db"]
    assert not folder.exists()
    assert FOLDER not in os.environ
    forget_process(7)
    forget_process(None)


def test_the_folder_of_a_supervisor_that_was_killed_goes_with_the_next_start(
    settings, monkeypatch, tmp_path
):
    monkeypatch.delenv(FOLDER, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    settings.METRICS_READERS = figure_readers("", ("127.0.0.1",))
    killed, strange = tmp_path / f"{PREFIX}killed", tmp_path / f"{PREFIX}strange"
    for folder in (killed, strange):
        folder.mkdir()
        (folder / "counter_7.db").touch()
    (killed / LOCK).touch()  # that nobody holds
    with counting_together():
        ours = Path(os.environ[FOLDER])
        assert {*tmp_path.iterdir()} == {ours, strange}
        del os.environ[FOLDER]
        with counting_together():  # another server of this machine
            assert ours.is_dir()
        os.environ[FOLDER] = str(ours)
    assert [*tmp_path.iterdir()] == [strange]
