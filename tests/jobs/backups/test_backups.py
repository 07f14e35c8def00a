"""A backup is whole, private and checked; what comes back is what was there."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from errno import ENOLCK, ENOSPC
import fcntl
import hashlib
from io import BytesIO
import json
import os
from pathlib import Path
import resource
import sqlite3
import stat
import subprocess
import sys
from urllib.parse import urlsplit
import uuid
import zipfile

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import connection
from django.utils import timezone
import psycopg
import pytest

from copilot_admin.copilots.providers import set_api_key
from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.backups import (
    backing_up,
    manifest,
    postgresql,
    programs,
    restoring,
    sqlite,
)
from copilot_admin.jobs.backups.archive import ArchiveReader, new_archive, open_archive
from copilot_admin.jobs.backups.backing_up import back_up
from copilot_admin.jobs.backups.restoring import _Files, _put_back, restore
from copilot_admin.models import LogIn, Provider
from copilot_admin.settings import BASE_DIR
from tests import services
from tests.databases import close_other_connections
from tests.factories import make_provider, make_published, make_user

KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # that of the tests
CANARY = "sk-canary-of-a-provider"
AGAIN_AND_OUT = """
from django.core.management import call_command
call_command("restore", {backup!r}, "--force")
call_command("copilots", "export", "--out", {out!r})
from django.contrib.sessions.models import Session
print("log-ins:", Session.objects.count())
"""
IS_POSTGRESQL = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")


@pytest.fixture
def data(tmp_path: Path, settings) -> Path:
    """The data directory of this test, with an upload and an answer that waits in the spool."""
    settings.DATA_DIR = tmp_path / "data"
    settings.MEDIA_ROOT = settings.DATA_DIR / "uploads"
    (settings.MEDIA_ROOT / "copilots").mkdir(parents=True)
    (settings.MEDIA_ROOT / "copilots" / "a ü.png").write_bytes(b"\x89PNG" * 100_000)
    (settings.DATA_DIR / "spool").mkdir()
    (settings.DATA_DIR / "spool" / "1.json").write_text("{}")
    (settings.DATA_DIR / "spool" / "2.json.tmp").write_text("half")
    return tmp_path / "data"


@pytest.fixture
def elsewhere(tmp_path) -> Iterator[dict[str, str]]:
    """The environment of a server with an empty database of the same kind, on another machine."""
    folder = tmp_path / "elsewhere"
    environment = {
        **os.environ,
        "COPILOT_DATA_DIR": str(folder),
        "COPILOT_ENCRYPTION_KEYS": KEY,
        "DJANGO_SETTINGS_MODULE": "copilot_admin.settings",
    }
    if not IS_POSTGRESQL:
        yield {**environment, "DATABASE_URL": f"sqlite:///{folder}/db.sqlite3"}
        return
    name = f"test_restored_{uuid.uuid4().hex}"
    with psycopg.connect(services.DATABASE_URL, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            url = urlsplit(services.DATABASE_URL)._replace(path=f"/{name}").geturl()
            yield {**environment, "DATABASE_URL": url}
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def manage(environment: dict[str, str], *arguments: str) -> tuple[int, str, str]:
    """Status and words of a command."""
    ended = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stdout, ended.stderr


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path: Path, changes: dict[str, bytes | None]) -> Path:
    """The same archive with other members; None leaves one out."""
    target = path.with_name(f"{path.name}-changed")
    with zipfile.ZipFile(target, "w") as archive:
        for name, body in {**contents(path), **changes}.items():
            if body is not None:
                archive.writestr(name, body)
    return target


def stopped() -> None:
    raise KeyboardInterrupt


def with_head(path: Path, **changes: object) -> Path:
    head = json.loads(contents(path)[manifest.NAME]) | changes
    return rewritten(path, {manifest.NAME: json.dumps(head).encode()})


@pytest.mark.database
@pytest.mark.django_db(transaction=True)
def test_what_opens_a_log_in_is_in_no_backup(data, tmp_path):
    """Whoever had the file was logged in, as long as the log-ins lasted that it held."""
    user = make_user()
    session = SessionStore()
    session.create()
    now = timezone.now()
    LogIn.objects.create(user=user, session_key=session.session_key, since=now, last_seen=now)
    back_up(tmp_path / "backup")
    dump = tmp_path / "dump"
    dump.write_bytes(contents(tmp_path / "backup")[manifest.DATABASE])
    held = dump.read_bytes()
    if IS_POSTGRESQL:
        with programs.running("pg_restore", "--file=-", str(dump)) as script:
            held = script.communicate()[0]
    assert (user.username.encode() in held, session.session_key.encode() in held) == (True, False)
    assert (LogIn.objects.count(), Session.objects.count()) == (1, 1)


@pytest.mark.django_db
def test_uploads_that_come_and_go_while_the_database_is_copied_are_in_it(
    data, tmp_path, monkeypatch
):
    folder = data / "uploads" / "copilots"
    (folder / "new.png").write_bytes(b"ne")
    os.utime(folder / "a ü.png", (0, 0))

    @contextmanager
    def dump(path: Path) -> Iterator[BytesIO]:
        """A row names the one, which is swept, or the other, which was being written."""
        (folder / "a ü.png").unlink()
        (folder / "new.png").write_bytes(b"new")
        yield BytesIO(b"")

    monkeypatch.setattr(backing_up, "_dump", dump)
    written = back_up(tmp_path / "a.backup")
    kept = {name: data for name, data in contents(tmp_path / "a.backup").items() if "png" in name}
    assert kept == {
        "uploads/copilots/a ü.png": b"\x89PNG" * 100_000,
        "uploads/copilots/new.png": b"new",
    }
    assert written.uploads == 2


@pytest.mark.django_db(transaction=True)
def test_what_comes_back_is_what_was_there(data, elsewhere, tmp_path):
    """One way for all: each process takes a second to start."""
    provider = make_provider(name="Kept")
    set_api_key(provider, CANARY)
    make_published(slug="news", provider=provider)
    SessionStore().create()
    file = tmp_path / "backup"

    written = back_up(file)

    assert (written.uploads, written.spooled) == (1, 1)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "data"]
    held = contents(file)
    assert sorted(held) == ["database", "manifest.json", "spool/1.json", "uploads/copilots/a ü.png"]
    secrets = (CANARY, settings.SECRET_KEY, KEY)
    assert [one for one in secrets if any(one.encode() in body for body in held.values())] == []

    lines = f"Restored as of {json.loads(held['manifest.json'])['made_at']}, with 1 uploads.\n"
    assert manage(elsewhere, "restore", str(file)) == (0, lines, "")

    image = Path("uploads/copilots/a ü.png")
    there = Path(elsewhere["COPILOT_DATA_DIR"])
    assert (there / image).read_bytes() == (data / image).read_bytes()
    assert (there / "spool" / "1.json").read_text() == "{}"
    (there / "audit-anchors.jsonl").write_text('{"sequence": 99, "hash": "ab"}\n')
    out = tmp_path / "copilots.yaml"
    both = AGAIN_AND_OUT.format(backup=str(file), out=str(out))
    again = manage({**elsewhere, "COPILOT_ENCRYPTION_KEYS": ""}, "shell", "--command", both)
    assert again[0] == 0, again
    assert "an anchor names entry 99: `audit verify` will say that its end was cut off." in again[1]
    assert "log-ins: 0" in again[1]  # some were ended since
    assert ("slug: news" in out.read_text(), "name: Kept" in out.read_text()) == (True, True)


@pytest.mark.django_db
class TestAFileThatIsNotWhole:
    @pytest.fixture
    def file(self, data, tmp_path: Path) -> Path:
        make_published(slug="news")
        file: Path = tmp_path / "backup"
        back_up(file)
        return file

    def refusal(self, file: Path) -> str:
        with pytest.raises(ConfigurationError) as refused:
            restore(file, force=True)
        return refused.value.public

    def test_one_that_was_cut_is_refused(self, file):
        file.write_bytes(file.read_bytes()[:-100])
        assert self.refusal(file) == f"{file} is no backup, or was cut. Use another one."

    def test_what_is_no_file_is_not_read(self, monkeypatch):
        """A device that has no end took all memory of the machine."""
        monkeypatch.setattr(zipfile, "ZipFile", lambda path: pytest.fail(f"{path} is read"))
        device = Path("/dev/zero")
        assert self.refusal(device) == f"{device} is no backup, or was cut. Use another one."

    def test_one_that_is_not_there_is_named(self, tmp_path):
        gone = tmp_path / "gone"
        assert self.refusal(gone) == (
            f"{gone} cannot be read: No such file or directory. Name one that is there."
        )

    @pytest.mark.parametrize("change", [b"other", None], ids=["another", "none"])
    def test_one_with_a_member_changed_is_refused_before_anything_is_touched(self, file, change):
        name = "uploads/copilots/a ü.png"
        words = f"The backup is damaged at {name!r}: nothing of it was used. Take another one."
        assert self.refusal(rewritten(file, {name: change})) == words

    def test_bytes_that_turned_are_found(self, file):
        """Some: of single bits of packed data, one in 600 means nothing (5 of 3,000 tried)."""
        body = bytearray(file.read_bytes())
        start = body.index(b"database") + 2_000
        body[start : start + 16] = bytes(0xFF - byte for byte in body[start : start + 16])
        file.write_bytes(body)
        assert "The backup is damaged at 'database'" in self.refusal(file)

    @pytest.mark.parametrize(
        "head", [None, b"[]", b"{", b'{"format": 1}', b'{"format": 1, "x": 2}']
    )
    def test_one_without_a_manifest_is_refused(self, file, head):
        assert "anifest" in self.refusal(rewritten(file, {manifest.NAME: head}))

    def test_another_format_is_named(self, file):
        assert self.refusal(with_head(file, format=2)) == (
            "The backup was written in another format. Restore it with the release that wrote it."
        )

    def test_newer_tables_are_refused(self, file):
        head = json.loads(contents(file)[manifest.NAME])
        newer = [*head["migrations"], "copilot_admin.9999_later"]
        assert self.refusal(with_head(file, migrations=newer)) == (
            "The backup is of a newer release: its tables know copilot_admin.9999_later. Restore it "
            "with that one."
        )

    @pytest.mark.database
    def test_another_kind_of_database_is_refused(self, file):
        assert self.refusal(with_head(file, vendor="oracle")) == (
            f"The backup is of oracle, DATABASE_URL names {connection.vendor}. Set DATABASE_URL to a "
            "database of its kind."
        )

    @pytest.mark.database
    def test_a_database_that_is_used_is_not_replaced_unasked(self, file):
        with pytest.raises(CommandError) as refused:
            call_command("restore", str(file))
        assert str(refused.value) == (
            "The database is not empty. With --force everything in it is replaced; "
            "`manage.py backup` keeps it first."
        )

    @pytest.mark.parametrize("name", ["uploads/../../x", "uploads//etc/x", "spool/.."])
    def test_no_name_leads_out_of_its_folder(self, file, name):
        body = b"x"
        member = {"size": 1, "sha256": hashlib.sha256(body).hexdigest()}
        members = json.loads(contents(file)[manifest.NAME])["members"] | {name: member}
        changed = with_head(rewritten(file, {name: body}), members=members)
        assert "is damaged at" in self.refusal(changed)


@pytest.mark.django_db
class TestAFileThatCannotBeWritten:
    def test_another_file_is_not_overwritten(self, data, tmp_path):
        (tmp_path / "backup").write_text("dear")
        with pytest.raises(ConfigurationError) as refused:
            back_up(tmp_path / "backup")
        assert refused.value.public == (
            f"{tmp_path / 'backup'} exists. Name another file, or move it away."
        )
        assert (tmp_path / "backup").read_text() == "dear"

    def test_a_folder_that_is_not_there_is_named(self, data, tmp_path):
        with pytest.raises(ConfigurationError, match="cannot be written: No such file"):
            back_up(tmp_path / "gone" / "backup")

    def test_one_that_another_command_writes_is_left_to_it(self, tmp_path):
        path = tmp_path / "backup"
        with new_archive(path) as first:
            first.add("a", BytesIO(b"of the first"))
            with pytest.raises(ConfigurationError) as refused, new_archive(path):
                pass
            assert refused.value.public == (
                f"{path}.partial is being written by another `manage.py backup`. Wait for it, or "
                "name another file."
            )
        with zipfile.ZipFile(path) as whole:
            assert whole.read("a") == b"of the first"

    def test_what_a_killed_command_left_is_written_over(self, tmp_path):
        path = tmp_path / "backup"
        path.with_name("backup.partial").write_bytes(b"half of one")
        with new_archive(path) as archive:
            archive.add("a", BytesIO(b"whole"))
        assert zipfile.is_zipfile(path)
        assert [one.name for one in tmp_path.iterdir()] == ["backup"]

    def test_where_there_are_no_locks_it_is_written_all_the_same(self, tmp_path, monkeypatch):
        def lock(descriptor: int, how: int) -> None:
            raise OSError(ENOLCK, os.strerror(ENOLCK))

        monkeypatch.setattr(fcntl, "flock", lock)
        with new_archive(tmp_path / "backup") as archive:
            archive.add("a", BytesIO(b"whole"))
        assert zipfile.is_zipfile(tmp_path / "backup")

    @pytest.mark.skipif(IS_POSTGRESQL, reason="pg_dump makes no copy")
    def test_the_copy_has_no_name_that_a_killed_command_could_leave(self, tmp_path):
        source = tmp_path / "source.sqlite3"
        with closing(sqlite3.connect(source)) as made, made:
            made.execute("CREATE TABLE a AS SELECT 7 AS b")
        beside = tmp_path / "beside"
        beside.mkdir()
        with sqlite.dump(source, beside=beside) as copy:
            assert list(beside.iterdir()) == []
            (tmp_path / "copy.sqlite3").write_bytes(copy.read())
        with closing(sqlite3.connect(tmp_path / "copy.sqlite3")) as copied:
            assert copied.execute("SELECT b FROM a").fetchall() == [(7,)]

    def test_a_copy_that_fails_leaves_nothing(self, data, tmp_path, monkeypatch):
        def broken(path: Path) -> object:
            raise ConfigurationError("No.")

        monkeypatch.setattr(backing_up, "_dump", broken)
        with pytest.raises(ConfigurationError, match="No"):
            back_up(tmp_path / "backup")
        assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.database
@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has no programs")
@pytest.mark.django_db(transaction=True)
class TestPostgresqlsPrograms:
    def test_one_older_than_the_server_is_named(self, data, tmp_path, monkeypatch):
        server = postgresql.server_major()
        monkeypatch.setattr(postgresql, "major_of", lambda name: server - 1)
        with pytest.raises(ConfigurationError) as refused:
            back_up(tmp_path / "backup")
        assert refused.value.public == (
            f"pg_dump is of version {server - 1}, the server of version {server}: install the package "
            "postgresql-client of the server's version."
        )

    def test_they_are_not_sent_to_pgbouncer(self, data, tmp_path, settings):
        settings.PGBOUNCER = True
        with pytest.raises(ConfigurationError) as refused:
            back_up(tmp_path / "backup")
        assert refused.value.public == (
            "A backup needs PostgreSQL itself: name it in DATABASE_URL, without COPILOT_PGBOUNCER."
        )

    def test_a_server_older_than_the_backup_is_named(self, data, tmp_path):
        back_up(tmp_path / "backup")
        with pytest.raises(ConfigurationError, match=r"is of PostgreSQL 99, this server is \d\d"):
            restore(with_head(tmp_path / "backup", server_major=99), force=True)

    def test_a_program_older_than_the_backup_is_named(self, data, tmp_path):
        back_up(tmp_path / "backup")
        with pytest.raises(ConfigurationError, match="pg_restore is older than the backup"):
            restore(with_head(tmp_path / "backup", dump_major=99), force=True)

    def test_one_that_is_missing_is_named(self, monkeypatch):
        monkeypatch.setenv("PATH", "")
        with pytest.raises(ConfigurationError, match="pg_dump is missing: install"):
            programs.major_of("pg_dump")

    def test_they_have_the_time_limits_of_commands(self, monkeypatch):
        """Those of the role ended a restore: to empty the database took longer than a page may."""
        options = {"options": "-c statement_timeout=0"}
        monkeypatch.setitem(connection.settings_dict, "OPTIONS", options)
        with programs.running("printenv", "PGOPTIONS") as process:
            assert process.communicate()[0] == b"-c statement_timeout=0\n"

    def test_what_one_says_of_its_failure_is_told(self):
        with (
            pytest.raises(
                ConfigurationError,
                match=r"(?s)psql ended with \d: .*no such.*\nNothing was changed. See that ",
            ),
            programs.running("psql", "--no-such-option=no such"),
        ):
            pass

    def test_of_a_restore_whose_source_ends_early_nothing_stays(self, data, tmp_path, monkeypatch):
        """A restore that was killed left the tables that had come, without their indexes."""
        back_up(tmp_path / "backup")
        dump = contents(tmp_path / "backup")[manifest.DATABASE]
        make_provider(name="since")

        def nearly_all(
            _reader: ArchiveReader, _name: str, write: Callable[[bytes], object]
        ) -> None:
            write(dump[:-20])

        monkeypatch.setattr(ArchiveReader, "copy", nearly_all)
        monkeypatch.setattr(postgresql, "_others", lambda: 0)  # threads that other tests began
        with (
            open_archive(tmp_path / "backup") as backup,
            pytest.raises(
                ConfigurationError, match=r"(?s)pg_restore: error: .*Nothing was changed"
            ),
        ):
            postgresql.restore(backup)
        assert Provider.objects.filter(name="since").exists()

    def test_until_it_says_so_a_restore_can_be_stopped(self, data, tmp_path, monkeypatch):
        """It was stopped in words when psql had begun to commit: the tables were others, and no trail."""
        back_up(tmp_path / "backup")
        make_provider(name="since")
        monkeypatch.setattr(postgresql, "_others", lambda: 0)
        with open_archive(tmp_path / "backup") as backup, pytest.raises(KeyboardInterrupt):
            postgresql.restore(backup, replacing=stopped)
        assert Provider.objects.filter(name="since").exists()

    def test_where_the_connection_is_lost_while_it_commits_nobody_is_told_what_there_is(
        self, data, tmp_path, monkeypatch
    ):
        back_up(tmp_path / "backup")
        monkeypatch.setattr(postgresql, "_others", lambda: 0)
        with (
            open_archive(tmp_path / "backup") as backup,
            pytest.raises(ConfigurationError, match="psql ended with") as raised,
        ):
            postgresql.restore(backup, replacing=close_other_connections)
        assert raised.value.public.endswith(postgresql.NOBODY_KNOWS)
        assert "Nothing was changed" not in raised.value.public

    def test_nothing_is_replaced_under_a_server(self, data, tmp_path, monkeypatch):
        back_up(tmp_path / "backup")
        monkeypatch.setattr(postgresql, "LEAVING_SECONDS", 0)
        url = urlsplit(services.DATABASE_URL)._replace(path=f"/{connection.settings_dict['NAME']}")
        with (
            psycopg.connect(url.geturl()),
            pytest.raises(ConfigurationError, match="other connections use the database"),
        ):
            restore(tmp_path / "backup", force=True)


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("pg_dump (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)", 15),
        ("psql (PostgreSQL) 18beta1", 18),
        ("pg_dump", 0),
    ],
)
def test_a_version_is_its_first_number(said, version):
    assert programs.version_in(said) == version


@pytest.mark.nightly
@pytest.mark.django_db(transaction=True)
def test_it_takes_no_memory_for_what_it_copies(data, tmp_path):
    with (data / "uploads" / "big").open("wb") as big:
        for _ in range(300):
            big.write(os.urandom(1024 * 1024))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    back_up(tmp_path / "backup")
    with open_archive(tmp_path / "backup") as backup:
        backup.check()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_a_member_is_what_was_read_of_it(tmp_path):
    with new_archive(tmp_path / "one") as archive:
        archive.add("a", BytesIO(b"x" * 3_000_000))
    assert archive.members["a"].size == 3_000_000


HEAD = manifest.Manifest(
    made_at="2026-11-22T12:00:00+00:00", vendor="sqlite", server_major=0, dump_major=0,
    migrations=(), encryption_keys=(), members={},
)  # fmt: skip


def listed(path: Path, name: str, data: bytes, *, size: int, packing: int) -> Path:
    """An archive whose manifest says of a member that it is of some size."""
    member = manifest.Member(size, hashlib.sha256(data).hexdigest())
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr(name, data)
        archive.writestr(manifest.NAME, manifest.written(replace(HEAD, members={name: member})))
    return path


def test_a_member_that_is_longer_than_is_listed_is_not_read_to_its_end(tmp_path):
    bomb = b"0" * 8_000_000
    taken: list[int] = []
    file = listed(tmp_path / "b", "database", bomb, size=10, packing=zipfile.ZIP_DEFLATED)
    with open_archive(file) as backup, pytest.raises(ConfigurationError, match="is damaged at"):
        backup.copy("database", lambda piece: taken.append(len(piece)))
    assert taken == []


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["database", "uploads/é.png"])
def test_whatever_is_changed_in_a_file_is_told_in_words(tmp_path, packing, name):
    """However it was packed: whoever restores reads what to do, and no traceback."""
    whole = listed(tmp_path / "b", name, b"SQLite" * 20, size=120, packing=packing).read_bytes()
    refused = 0
    places = range(0, len(whole), 5)
    for place in places:
        turned = bytes([whole[place] ^ 0xFF])
        (tmp_path / "b").write_bytes(whole[:place] + turned + whole[place + 1 :])
        try:
            with open_archive(tmp_path / "b") as backup:
                backup.check()
        except ConfigurationError:
            refused += 1
    assert refused > len(places) / 2  # others are of no meaning, such as the time of a member


@pytest.mark.parametrize(
    "change",
    [
        {"migrations": [None]},
        {"encryption_keys": [1]},
        {"members": {"database": {"size": "1", "sha256": ""}}},
        {"members": {"database": {"size": True, "sha256": ""}}},
        {"members": {"database": {"size": 1, "sha256": 1}}},
        {"format": True},
        {"format": 1.0},
        {"server_major": True},
        {"dump_major": "16"},
        {"made_at": None},
        {"vendor": ["sqlite"]},
        {"migrations": "text"},
        {"encryption_keys": {"a": 1}},
    ],
)
def test_a_manifest_of_other_kinds_of_values_is_refused(change):
    head = json.loads(manifest.written(HEAD)) | change
    with pytest.raises(ConfigurationError, match="manifest cannot be read"):
        manifest.read(json.dumps(head).encode())


@pytest.mark.django_db
def test_an_upload_is_not_written_through_a_link_that_waits_for_it(data, tmp_path):
    make_published(slug="news")
    back_up(tmp_path / "backup")
    victim = tmp_path / "victim"
    victim.write_text("mine")
    with open_archive(tmp_path / "backup") as backup:
        (names,) = (backup.names(manifest.UPLOADS),)
        target = tmp_path / "there" / names[0]
        target.parent.mkdir(parents=True)
        target.with_name(f".{target.name}.restored").symlink_to(victim)
        with _put_back(_Files(backup, manifest.UPLOADS, names, tmp_path / "there")):
            assert not target.exists()
    assert (victim.read_text(), target.is_symlink(), target.stat().st_mode & 0o777) == (
        "mine",
        False,
        0o600,
    )


@pytest.mark.django_db
class TestATargetThatTakesNothing:
    """Whatever cannot be written is told before the database is touched."""

    @pytest.fixture
    def touched(self, monkeypatch) -> list[str]:
        touched: list[str] = []
        monkeypatch.setattr(
            restoring, "_restore_database", lambda backup, _: touched.append(backup.head.made_at)
        )
        return touched

    @pytest.fixture
    def file(self, data, tmp_path: Path, settings) -> Path:
        make_published(slug="news")
        back_up(tmp_path / "backup")
        settings.DATA_DIR = tmp_path / "new"
        settings.MEDIA_ROOT = settings.DATA_DIR / "uploads"
        settings.DATA_DIR.mkdir()
        return tmp_path / "backup"

    def left(self, folder: Path) -> list[str]:
        return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())

    @pytest.mark.parametrize("in_the_way", ["uploads", "spool", "uploads/copilots/a ü.png/x"])
    def test_a_file_in_the_place_of_a_folder_or_the_other_way(
        self, in_the_way, file, touched, settings
    ):
        there = settings.DATA_DIR / in_the_way
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text("in the way")
        with pytest.raises(ConfigurationError, match=r"cannot be written: .*Nothing was changed"):
            restore(file, force=True)
        assert (touched, self.left(settings.DATA_DIR)) == ([], [in_the_way])

    def test_a_disk_that_is_full(self, file, touched, settings, monkeypatch):
        def full(*_):
            raise OSError(ENOSPC, os.strerror(ENOSPC))

        monkeypatch.setattr(ArchiveReader, "check", lambda _: None)
        monkeypatch.setattr(ArchiveReader, "copy", full)
        with pytest.raises(ConfigurationError, match=r"No space left on device\. Nothing was"):
            restore(file, force=True)
        assert (touched, self.left(settings.DATA_DIR)) == ([], [])

    def test_a_database_that_is_not_restored_brings_no_files(self, file, settings, monkeypatch):
        def broken(*_):
            raise ConfigurationError("psql ended with 3")

        monkeypatch.setattr(restoring, "_restore_database", broken)
        with pytest.raises(ConfigurationError, match="psql ended with 3"):
            restore(file, force=True)
        assert self.left(settings.DATA_DIR) == []

    def test_tables_of_before_are_restored_and_told(self, file, touched, settings):
        head = json.loads(contents(file)[manifest.NAME])
        of_before = [one for one in head["migrations"] if "copilot_admin.0002" not in one]
        done = restore(with_head(file, migrations=of_before), force=True)
        assert (done.needs_migrate, len(touched)) == (True, 1)
        assert self.left(settings.DATA_DIR) == ["spool/1.json", "uploads/copilots/a ü.png"]

    def test_until_it_says_so_nothing_is_taken_from_the_database_that_is_there(
        self, file, tmp_path, monkeypatch
    ):
        monkeypatch.setattr(ArchiveReader, "copy", lambda *_: None)
        target = tmp_path / "copilot.sqlite3"
        there = [target, target.with_name("copilot.sqlite3-wal")]
        for one in there:
            one.write_text("there")
        with open_archive(file) as backup, pytest.raises(KeyboardInterrupt):
            sqlite.restore(backup, target, replacing=stopped)
        assert [one.read_text() for one in there] == ["there", "there"]
        assert not [*tmp_path.glob(".restored-*")]

    def test_a_database_in_a_folder_that_is_none_is_named(self, file, tmp_path):
        (tmp_path / "file").write_text("")
        target = tmp_path / "file" / "db.sqlite3"
        with open_archive(file) as backup, pytest.raises(ConfigurationError) as refused:
            sqlite.restore(backup, target)
        assert "cannot be written: " in refused.value.public


class TestWhatAKilledRestoreLeft:
    """A copy of all transcripts, beside the database, whose command had no time to take it away."""

    @pytest.fixture
    def left(self, tmp_path: Path) -> list[Path]:
        left = [tmp_path / ".restored-abc", tmp_path / ".restored-abc-wal"]
        for one in left:
            one.write_text("of all transcripts")
        (tmp_path / "restored-mine").write_text("of somebody else")
        (tmp_path / ".restored-folder").mkdir()
        return left

    def test_the_next_restore_takes_it_away_first(self, tmp_path, left, monkeypatch):
        """The disk may have no room for a second one."""

        def full(*_: object) -> None:
            assert not any(one.exists() for one in left)
            raise OSError(ENOSPC, os.strerror(ENOSPC))

        monkeypatch.setattr(ArchiveReader, "copy", full)
        with pytest.raises(ConfigurationError, match="No space left"):
            sqlite.restore(ArchiveReader.__new__(ArchiveReader), tmp_path / "copilot.sqlite3")
        assert sorted(one.name for one in tmp_path.iterdir()) == [
            ".restored-folder",
            "restored-mine",
        ]
