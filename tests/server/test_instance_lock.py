"""One server process for a SQLite database."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
import subprocess
import sys

import pytest

from copilot_admin.config.databases import SQLITE
from copilot_admin.errors import ConfigurationError
from copilot_admin.server.database_check import LOCK_FILE, instance_lock

HOLDER = """
import fcntl, sys
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
print("locked", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(settings, tmp_path, monkeypatch) -> Path:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", SQLITE)
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", tmp_path / "copilot.sqlite3")
    return Path(tmp_path)


@contextmanager
def other_server(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOLDER, str(folder / LOCK_FILE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield holder


def refusal() -> str:
    with pytest.raises(ConfigurationError) as error, instance_lock():
        pass
    return error.value.public


def test_a_second_server_is_refused_until_the_first_one_is_killed(folder):
    with other_server(folder) as holder:
        assert refusal() == (
            f"Another server uses the SQLite database in {folder}. Stop it, or use PostgreSQL to run "
            "several servers."
        )
        holder.kill()
        holder.wait()
        with instance_lock():
            pass


def test_a_folder_that_cannot_be_written_is_reported(folder):
    (folder / LOCK_FILE).mkdir()
    assert refusal().startswith(f"Could not lock {folder / LOCK_FILE}: Is a directory.")


def test_postgresql_allows_several_servers(folder, settings, monkeypatch):
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")
    with other_server(folder), instance_lock():
        pass
