"""A database with which no server can start is one line; SQLite has one server."""

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import subprocess
import sys

from django.db import OperationalError, ProgrammingError
import pytest

from copilot_admin.config.databases import SQLITE
from copilot_admin.errors import ConfigurationError
from copilot_admin.server import database_check
from copilot_admin.server.database_check import (
    LOCK_FILE,
    check_database,
    describe_database_error,
    instance_lock,
)
from copilot_admin.settings import BASE_DIR
from tests.polling import HANGS_SECONDS

POSTGRESQL = "django.db.backends.postgresql"


class Undefined(Exception):
    sqlstate = "42P01"


@pytest.mark.parametrize(
    ("engine", "error", "expected"),
    [
        (SQLITE, OperationalError("no such table: x"), "x. Run `manage.py migrate`."),
        (SQLITE, OperationalError("disk I/O error"), "disk I/O error. Check DATABASE_URL, COPI"),
        (POSTGRESQL, OperationalError("role x\ndoes not exist"), "role x does not exist. Check DA"),
        (POSTGRESQL, ProgrammingError("relation x does not exist"), "Run `manage.py migrate`."),
    ],
)
def test_the_drivers_message_is_one_line_with_advice(
    settings, monkeypatch, engine, error, expected
):
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", engine)
    if isinstance(error, ProgrammingError):
        error.__cause__ = Undefined()
    description = describe_database_error(error)
    assert description.startswith("The database cannot be used: ")
    assert expected in description


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_a_database_with_an_old_schema_starts_no_server(monkeypatch):
    check_database()
    monkeypatch.setattr(database_check, "is_current", lambda: False)
    with pytest.raises(ConfigurationError, match=r"Run `manage\.py migrate`"):
        check_database()


def run(folder: Path, *arguments: str, database_url: str = "") -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "COPILOT_DATA_DIR": str(folder),
        "DATABASE_URL": database_url,
        "DJANGO_SETTINGS_MODULE": "copilot_admin.settings",
    }
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR, env=environment, capture_output=True, text=True, timeout=HANGS_SECONDS, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("arguments", [("showmigrations",), ("serve", "--port", "0")])
def test_a_command_reports_a_file_that_is_not_a_database_in_one_line(tmp_path, arguments):
    (tmp_path / "copilot.sqlite3").write_bytes(
        b"This is a text of more than a hundred bytes. " * 50
    )
    done = run(tmp_path, *arguments)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "file is not a database" in done.stderr.splitlines()[-1]


def test_a_server_that_does_not_answer_is_named_with_the_reason(tmp_path):
    done = run(tmp_path, "serve", "--port", "0", database_url="postgres://u@127.0.0.1:9/n")
    (line,) = done.stderr.splitlines()
    assert (done.returncode, "port 9 failed: Connection refused" in line) == (1, True)


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
