"""One server for a SQLite database, however the one before it ended."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
import errno
import fcntl
import json
import os
from pathlib import Path
import signal
import subprocess
import sys

import pytest

from copilot_admin.config.databases import SQLITE
from copilot_admin.errors import ConfigurationError
from copilot_admin.http.lifespan import Lifespan
from copilot_admin.runs import open_run
from copilot_admin.server import housekeeping
from copilot_admin.server import sole_server as module
from copilot_admin.server.sole_server import (
    LOCK_FILE,
    be_sole_development_server,
    be_sole_to_the_end,
    sole_server,
    sole_server_of_this_process,
)
from tests.http.asgi_client import call, scope
from tests.http.test_edge import echo

HOLDER = """
import fcntl, os, sys
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
print(os.getpid(), file=file, flush=True)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(settings, tmp_path, monkeypatch) -> Path:
    settings.DATA_DIR = tmp_path
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", SQLITE)
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", tmp_path / "copilot.sqlite3")
    return Path(tmp_path)


def refused() -> str:
    with pytest.raises(ConfigurationError) as error, sole_server():
        pass
    return error.value.public


def test_a_second_server_is_refused_in_one_line_with_the_number_of_the_first(folder):
    with sole_server():
        assert refused() == (
            f"Another server (process {os.getpid()}) uses the SQLite database in {folder}. "
            "Stop it, or use PostgreSQL for several."
        )
    with sole_server():
        pass


def test_one_that_shares_only_the_database_is_refused_too(folder, settings, tmp_path_factory):
    with sole_server():
        settings.DATA_DIR = tmp_path_factory.mktemp("other")
        assert refused().startswith("Another server")
    settings.DATABASES["default"]["NAME"] = settings.DATA_DIR / "another.sqlite3"
    with sole_server():
        pass


def test_a_database_with_a_hard_link_has_no_server(folder):
    """The lock of a second folder is another one, and so is SQLite's log beside it."""
    file, other = folder / "copilot.sqlite3", folder / "other.sqlite3"
    file.touch()
    with sole_server():
        pass
    other.hardlink_to(file)
    assert refused() == (
        f"The SQLite database {file} has another name as well (a hard link): what is written at both "
        "destroys it. Remove the other name, or put a copy in its place."
    )
    other.unlink()
    other.symlink_to(file)
    with sole_server():
        pass


def test_a_server_that_says_nothing_of_its_start_serves_nothing_beside_another(folder, monkeypatch):
    """Daphne speaks no lifespan: it answered beside the server whose database it is."""
    monkeypatch.setattr(module, "_to_the_end", ExitStack())
    app = Lifespan(echo, start=never, stop=never, unstarted=be_sole_to_the_end)
    with held_by_another_process(folder):
        answer = call(app, scope("/"))
        assert (answer.status, answer.header("cache-control")) == (503, "no-store")
        assert json.loads(answer.body)["detail"].startswith("Another server")
        with pytest.raises(ConfigurationError):
            call(app, {"type": "websocket", "path": "/"})
    assert call(app, scope("/")).status == 200
    assert refused().startswith("Another server")
    module._to_the_end.close()
    assert call(app, scope("/")).status == 200, "it is asked once"


async def never() -> None:
    raise AssertionError


class TestOfThisProcess:
    """A server whose command holds the data, or that was started without ours."""

    def test_it_takes_the_lock_unless_its_command_has_it(self, folder):
        with sole_server_of_this_process():
            assert refused().startswith("Another server")
            with sole_server_of_this_process():
                pass
            assert refused().startswith("Another server")
        with sole_server(), sole_server_of_this_process():
            pass
        with sole_server():
            pass

    def test_it_is_refused_where_another_process_serves(self, folder):
        refuses = pytest.raises(ConfigurationError)
        with held_by_another_process(folder), refuses, sole_server_of_this_process():
            raise AssertionError

    def test_housekeeping_refuses_to_start_and_lets_go_at_the_end(self, folder, monkeypatch):
        with held_by_another_process(folder), pytest.raises(ConfigurationError) as error:
            asyncio.run(housekeeping.start())
        assert error.value.public.startswith("Another server")
        monkeypatch.setattr(housekeeping, "_alone", alone := ExitStack())
        alone.enter_context(sole_server_of_this_process())
        assert refused().startswith("Another server")
        asyncio.run(housekeeping.stop())
        open_run.stop_draining()
        with sole_server():
            pass


SERVES = {"RUN_MAIN": "true"}


class TestRunserver:
    @pytest.fixture(autouse=True)
    def _ends(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        with ExitStack() as process:
            monkeypatch.setattr(module, "_to_the_end", process)
            yield

    @pytest.mark.parametrize(
        ("argv", "environment"),
        [
            (["manage.py", "runserver"], SERVES),
            (["manage.py", "runserver", "--noreload", "8000"], {}),
        ],
    )
    def test_the_process_that_serves_is_alone(self, folder, argv, environment):
        with held_by_another_process(folder), pytest.raises(SystemExit) as error:
            be_sole_development_server(argv, environment)
        assert str(error.value).startswith("Another server")
        be_sole_development_server(argv, environment)
        assert refused().startswith("Another server")

    @pytest.mark.parametrize(
        ("argv", "environment"),
        [
            (["manage.py", "runserver"], {}),
            (["manage.py", "migrate"], SERVES),
            (["uvicorn", "copilot_admin.asgi:application"], {}),
            ([], {}),
        ],
    )
    def test_others_hold_nothing(self, folder, argv, environment):
        be_sole_development_server(argv, environment)
        with sole_server():
            pass


@contextmanager
def held_by_another_process(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOLDER, str(folder / LOCK_FILE)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield holder


def test_a_killed_server_leaves_no_lock(folder):
    with held_by_another_process(folder) as holder:
        assert "Another server" in refused()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with sole_server():
            assert (folder / LOCK_FILE).read_text() == str(os.getpid())


def test_a_full_disk_keeps_no_server_from_its_lock(folder, monkeypatch):
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "x")

    monkeypatch.setattr(os, "getpid", fail)
    with sole_server():
        monkeypatch.undo()
        assert (folder / LOCK_FILE).read_bytes() == b""


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named(folder, monkeypatch, number):
    def fail(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", fail)
    assert refused() == (
        f"{folder} cannot be locked ({os.strerror(number)}), as on some network file systems. "
        "Put SQLite on a local disk."
    )


def test_a_folder_that_cannot_be_written_is_named(folder):
    (folder / LOCK_FILE).mkdir()
    assert refused() == f"{folder / LOCK_FILE} cannot be opened: Is a directory."


def test_a_folder_of_somebody_else_is_told_with_what_to_do(folder, monkeypatch):
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", refuse)
        sentence = refused()
    assert sentence == (
        f"{folder / LOCK_FILE} cannot be opened: Permission denied. Give the folder to the user "
        "that runs the server, or name another in COPILOT_DATA_DIR."
    )


def test_postgresql_has_as_many_servers_as_there_are(folder, settings, monkeypatch):
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.postgresql")
    with sole_server(), sole_server():
        assert not (folder / LOCK_FILE).exists()
