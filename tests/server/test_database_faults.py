"""A database with which no server can start is one line, and an exit that is none of success."""

from collections.abc import Iterator
from contextlib import closing
import errno
import os
from pathlib import Path
import resource
import sqlite3
import subprocess
import sys

from django.core.management import CommandError, call_command
from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    InterfaceError,
    InternalError,
    OperationalError,
    ProgrammingError,
    connections,
)
from django.db.migrations.exceptions import MigrationSchemaMissing
import pytest

from copilot_admin.config.databases import SQLITE
from copilot_admin.errors import ConfigurationError
from copilot_admin.server import database_faults
from copilot_admin.server.database_faults import MIGRATE, sentence_for_command, sentence_of
from copilot_admin.server.open_files import LEAST
from copilot_admin.storage.errors import DEADLOCK_DETECTED, INSUFFICIENT_PRIVILEGE
import manage
from tests.polling import HANGS_SECONDS

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {
    "COPILOT_ENV": "development",
    "SECRET_KEY": "only for this test",
    "COPILOT_ENCRYPTION_KEYS": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
}
TABLES = f"The tables of the database are missing or old. {MIGRATE}"
POSTGRESQL = "django.db.backends.postgresql"


@pytest.mark.parametrize(
    ("engine", "error", "sentence"),
    [
        (SQLITE, OperationalError("no such table: copilot_admin_run"), TABLES),
        (POSTGRESQL, ProgrammingError('relation "x" does not exist'), TABLES),
        (POSTGRESQL, OperationalError("10.1.2.3 refused"), "PostgreSQL does not answer. Start it"),
        (POSTGRESQL, InterfaceError("closed"), "PostgreSQL does not answer. Start it"),
        (POSTGRESQL, DatabaseError("x"), "PostgreSQL cannot be used (DatabaseError)."),
        (POSTGRESQL, InternalError("10.1.2.3"), "PostgreSQL cannot be used (InternalError)."),
        (SQLITE, DatabaseError("file is not a database"), "The SQLite database /data/c.sqlite3"),
    ],
)
def test_what_keeps_a_server_from_starting_is_one_line(settings, monkeypatch, engine, error, sentence):  # fmt: skip
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", engine)
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", "/data/c.sqlite3")
    monkeypatch.setattr("copilot_admin.server.database_faults.refusal_of_connections", str)
    said = sentence_of(error)
    assert said.startswith(sentence)
    assert "10.1.2.3" not in said


@pytest.mark.parametrize("words", ["disk I/O error", "unable to open database file"])
def test_what_sqlite_says_of_a_full_disk_is_told_as_that(settings, monkeypatch, tmp_path, words):
    settings.DATA_DIR = tmp_path
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", SQLITE)
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", tmp_path / "copilot.sqlite3")
    monkeypatch.setattr("copilot_admin.config.free_space.full_folder", lambda: tmp_path)
    assert sentence_of(OperationalError(words)) == (
        f"SQLite cannot work: the disk of {tmp_path} is full. Mend that, or name another "
        "COPILOT_DATA_DIR."
    )
    assert "is locked" in sentence_of(OperationalError("database is locked"))


@pytest.mark.parametrize("end", ["", "-wal", "-shm"])
def test_files_that_the_account_may_not_use_are_told_as_that(settings, monkeypatch, tmp_path, end):
    """It was said that somebody keeps the database, who was looked for in vain."""
    database = tmp_path / "copilot.sqlite3"
    kept = Path(f"{database}{end}")
    database.touch()
    kept.touch()
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", SQLITE)
    monkeypatch.setitem(settings.DATABASES["default"], "NAME", database)
    error = OperationalError("unable to open database file")
    assert "Free what keeps it" in sentence_of(error)
    let = os.access  # root may use everything
    monkeypatch.setattr(os, "access", lambda path, rights: path != kept and let(path, rights))
    assert sentence_of(error) == (
        f"SQLite cannot work: this account may not read and write {kept}. Give it to the user that "
        "runs the server, or name another COPILOT_DATA_DIR."
    )
    assert "is locked" in sentence_of(OperationalError("database is locked"))


@pytest.mark.parametrize("code", ["42P07", "23505"])
def test_the_slower_of_two_that_migrate_at_once_is_told_so(settings, monkeypatch, code):
    """Its tables were said to be missing, or it ended in a traceback."""
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", POSTGRESQL)
    error = ProgrammingError('relation "x" already exists')
    error.__cause__ = Exception()
    vars(error.__cause__)["sqlstate"] = code
    told = "Another process makes the same tables. Wait until it has ended, and start this again."
    assert sentence_of(error) == told
    assert sentence_for_command(error, ["manage.py", "migrate"]) == told
    assert sentence_for_command(error, ["manage.py", "migrate", "--traceback"]) is None
    assert sentence_for_command(error, ["manage.py", "sweep"]) is None


def test_a_command_is_told_in_one_line_that_postgresql_can_only_be_read(settings, monkeypatch):
    """It ended in a traceback; and after a switch to a standby a log-in was a fault of the server."""
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", POSTGRESQL)
    error = InternalError("cannot execute INSERT in a read-only transaction")
    error.__cause__ = Exception()
    vars(error.__cause__)["sqlstate"] = "25006"
    assert sentence_for_command(error, ["manage.py", "keys"]) == (
        "PostgreSQL can only be read now. Name the one that takes writes in DATABASE_URL."
    )


def test_a_role_that_may_make_no_tables_is_told_in_one_line(settings, monkeypatch):
    """It was a traceback of Django's, in which the reason is not the cause but the context."""
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", POSTGRESQL)
    refused = ProgrammingError("permission denied for schema public")
    refused.__cause__ = Exception()
    vars(refused.__cause__)["sqlstate"] = INSUFFICIENT_PRIVILEGE
    missing = MigrationSchemaMissing("Unable to create the django_migrations table")
    missing.__context__ = refused
    told = (
        "PostgreSQL does not let the user of DATABASE_URL make or change tables. Let him own those that "
        "are there, and grant him CREATE on their schema."
    )
    for error in (missing, refused):
        assert sentence_for_command(error, ["manage.py", "migrate"]) == told
        assert sentence_for_command(error, ["manage.py", "migrate", "--traceback"]) is None


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_a_database_in_which_not_every_letter_can_be_written_has_no_server(monkeypatch):
    assert database_faults._encoding() == "UTF8"
    monkeypatch.setattr(database_faults, "is_current", lambda: True)
    monkeypatch.setattr(database_faults, "_encoding", lambda: "LATIN1")
    with pytest.raises(ConfigurationError, match=r"keeps texts as LATIN1, .* `ENCODING 'UTF8'"):
        database_faults.check_database()


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**ENVIRONMENT, "COPILOT_DATA_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=HANGS_SECONDS,
        check=False,
    )


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The one line, of a process that did not succeed."""
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    return line


def test_missing_tables_are_one_line(tmp_path):
    assert refusal(run(tmp_path, "serve", "--port", "0")) == f"CommandError: {TABLES}"


@pytest.mark.nightly  # a damaged one goes the same way, and further
@pytest.mark.parametrize("command", ["serve", "quickstart"])
def test_a_file_that_is_no_database_is_one_line(tmp_path, command):
    file = tmp_path / "copilot.sqlite3"
    file.write_bytes(b"this was a database once\n" * 500)
    assert refusal(run(tmp_path, command, "--port", "0")) == (
        f"CommandError: The SQLite database {file} cannot be used: file is not a database. "
        "Free what keeps it, or put a backup in its place."
    )


def test_a_damaged_database_is_named_and_starts_nothing(tmp_path):
    file = tmp_path / "copilot.sqlite3"
    with closing(sqlite3.connect(file)) as made:
        for number in range(100):  # so many tables that the list of them fills several pages
            made.execute(f"CREATE TABLE table_{number} (id INTEGER PRIMARY KEY, name TEXT)")
    pages = bytearray(file.read_bytes())
    pages[4096:] = b"\xff" * (len(pages) - 4096)
    file.write_bytes(pages)
    assert "malformed" in refusal(run(tmp_path, "serve", "--port", "0"))


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    done = run(tmp_path / "file" / "data", "serve")
    assert done.returncode != 0
    (line,) = done.stderr.splitlines()
    assert "COPILOT_DATA_DIR" in line


@pytest.fixture
def unopened(settings, monkeypatch, tmp_path, django_db_blocker) -> Iterator[Path]:
    """The file of this process's database, as little one that can be opened as on a broken disk."""
    file = tmp_path / "copilot.sqlite3"
    file.mkdir()
    for key, value in {"ENGINE": SQLITE, "NAME": str(file), "OPTIONS": {}}.items():
        monkeypatch.setitem(settings.DATABASES["default"], key, value)
    before = connections["default"]
    connections["default"] = connections.create_connection("default")
    with django_db_blocker.unblock():
        yield file
    connections["default"] = before


@pytest.mark.parametrize("command", ["migrate", "sweep"])
def test_a_command_that_cannot_open_the_database_says_so_in_one_line(unopened, command):
    with pytest.raises(SystemExit) as ended:  # with words: its status is 1
        manage.main(["manage.py", command])
    assert ended.value.code == (
        f"CommandError: The SQLite database {unopened} cannot be used: unable to open database "
        "file. Free what keeps it, or put a backup in its place."
    )
    with pytest.raises(OperationalError):
        manage.main(["manage.py", command, "--traceback"])


class TestServersInTheWay:
    """PostgreSQL takes one back of two that wait for each other: a step of `migrate` among servers at work."""

    TOLD = (
        "CommandError: PostgreSQL took back what was done last, as others at work were in its way. What "
        "was done before stays: start this again when less is asked."
    )

    @pytest.fixture
    def begun(self, settings, monkeypatch) -> Iterator[list[int]]:
        """How often a command is begun; each time but the last this says that others are in its way."""
        of_all_tests = connections[DEFAULT_DB_ALIAS]
        monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", POSTGRESQL)
        left = [3]

        def run(argv: list[str]) -> None:
            left[0] -= 1
            if left[0]:
                error = OperationalError("deadlock detected")
                error.__cause__ = Exception()
                vars(error.__cause__)["sqlstate"] = DEADLOCK_DETECTED
                raise error

        monkeypatch.setattr(manage, "execute_from_command_line", run)
        yield left
        connections[DEFAULT_DB_ALIAS] = of_all_tests

    def test_it_goes_on_with_a_new_connection(self, begun):
        """The one of before may be in a transaction for good: it was, in a migration's last statement."""
        before = connections[DEFAULT_DB_ALIAS]
        manage.main(["manage.py", "migrate"])
        assert connections[DEFAULT_DB_ALIAS] is not before

    def test_it_goes_on_where_it_was(self, begun, capsys):
        manage.main(["manage.py", "migrate"])
        assert begun == [0]
        told = "Servers at work were in the way of this step: it is begun again."
        assert capsys.readouterr().err.split("\n") == ["", told, "", told, ""]

    def test_it_gives_up_at_last_and_says_what_stays(self, begun):
        begun[0] = 1000
        with pytest.raises(SystemExit) as ended:
            manage.main(["manage.py", "migrate"])
        assert (ended.value.code, begun) == (self.TOLD, [1000 - manage.MOST_BEGINNINGS])

    def test_no_other_command_is_begun_again(self, begun):
        with pytest.raises(SystemExit) as ended:
            manage.main(["manage.py", "sweep"])
        assert (ended.value.code, begun) == (self.TOLD, [2])


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_too_many_open_files_are_one_line(monkeypatch, number: int):
    def opens(argv: list[str]) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(manage, "execute_from_command_line", opens)
    with pytest.raises(SystemExit) as ended:
        manage.main(["manage.py", "migrate"])
    assert ended.value.code == (
        "CommandError: Too many files are open. Raise the limit (`ulimit -n 4096`)."
    )
    with pytest.raises(OSError, match=os.strerror(number)):
        manage.main(["manage.py", "migrate", "--traceback"])
    monkeypatch.setattr(manage, "execute_from_command_line", lambda argv: Path("/nowhere").stat())
    with pytest.raises(FileNotFoundError):
        manage.main(["manage.py", "migrate"])


@pytest.mark.parametrize("command", ["serve", "quickstart"])
@pytest.mark.parametrize("most", [LEAST - 1, LEAST, resource.RLIM_INFINITY])
def test_where_hardly_anything_may_be_open_no_server_starts(monkeypatch, tmp_path, command, most):
    """It broke in the middle of the start, with a traceback or none."""

    def start() -> None:
        raise ConfigurationError("It goes on.")

    monkeypatch.setattr(resource, "getrlimit", lambda kind: (most, resource.RLIM_INFINITY))
    monkeypatch.setattr("copilot_admin.server.serving.check_components", start)
    with pytest.raises(CommandError) as told:
        call_command(command)
    assert str(told.value) == (
        "This process may have 127 files and connections open at once; a server needs at least 128. "
        "Raise the limit (`ulimit -n 4096`, or LimitNOFILE= of its systemd unit)."
        if most == LEAST - 1
        else "It goes on."
    )


@pytest.mark.parametrize("argument", ["--search=\udcff", "\ud800x"])
def test_an_argument_that_is_no_text_is_refused_in_one_line_where_it_is_used(
    monkeypatch, capsys, argument: str
):
    def uses(argv: list[str]) -> None:
        argv[2].encode()

    monkeypatch.setattr(manage, "execute_from_command_line", uses)
    with pytest.raises(SystemExit) as ended:
        manage.main(["manage.py", "replay", argument])
    assert ended.value.code == manage.NOT_RUN
    assert capsys.readouterr().err == f"CommandError: {argument!r} is no text in UTF-8.\n"
    with pytest.raises(UnicodeEncodeError):
        manage.main(["manage.py", "replay", argument, "--traceback"])
    manage.main(["manage.py", "transcripts", "--format=csv", argument])  # the name of a file, say


def test_a_text_of_ours_that_cannot_be_written_is_no_fault_of_the_arguments(monkeypatch):
    monkeypatch.setattr(manage, "execute_from_command_line", lambda argv: "\udcff".encode())
    with pytest.raises(UnicodeEncodeError):
        manage.main(["manage.py", "sweep"])


@pytest.mark.parametrize(
    ("error", "arguments", "is_told"),
    [
        (OperationalError("no such column: x"), ["sweep"], True),
        (OperationalError("no such column: x"), ["migrate"], False),
        (OperationalError("database is locked"), ["migrate"], True),
        (DatabaseError("a fault of ours"), ["sweep"], False),
    ],
)
def test_a_fault_of_ours_keeps_its_traceback(settings, monkeypatch, error, arguments, is_told):
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", SQLITE)
    told = sentence_for_command(error, ["manage.py", *arguments])
    assert (told is not None) is is_told


@pytest.mark.nightly  # its words are looked at above, and the way is that of a damaged file
def test_a_postgresql_that_does_not_answer_is_one_line(tmp_path):
    done = run(tmp_path, "serve", "--port", "0", DATABASE_URL="postgres://u@127.0.0.1:1/none")
    assert refusal(done) == (
        "CommandError: PostgreSQL does not answer. Start it, or mend DATABASE_URL."
    )


def test_a_check_that_cannot_run_does_not_say_what_it_checks(unopened, capsys):
    """Its 1 would be that an answer is not as expected."""
    with pytest.raises(SystemExit) as ended:
        manage.main(["manage.py", "copilots", "check", "x"])
    assert ended.value.code == manage.NOT_RUN
    assert capsys.readouterr() == (
        "",
        f"CommandError: The SQLite database {unopened} cannot be used: unable to open database "
        "file. Free what keeps it, or put a backup in its place.\n",
    )
