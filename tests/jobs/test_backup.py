"""Backup and restore through the commands."""

from io import StringIO
import json
import os
from pathlib import Path
import stat
import subprocess
import sys
import tarfile
from urllib.parse import urlsplit
import uuid

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
import psycopg
import pytest

from copilot_admin.copilots.providers import set_api_key
from copilot_admin.models import Action, AuditEntry
from copilot_admin.settings import BASE_DIR
from tests import services
from tests.factories import make_provider, make_published, make_user

KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="  # of the tests
API_KEY = "sk-canary-of-a-provider"
IMAGE = "uploads/copilots/a ü.png"
IS_POSTGRESQL = settings.DATABASES["default"]["ENGINE"].endswith("postgresql")
EXPORT_AND_COUNT = """
from django.contrib.sessions.models import Session
from django.core.management import call_command
call_command("copilots", "export", "--out", {out!r})
print("sessions:", Session.objects.count())
"""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def data(tmp_path, settings):
    """A data directory with an upload, a spooled run, and a half-written one."""
    settings.DATA_DIR = tmp_path / "data"
    settings.MEDIA_ROOT = settings.DATA_DIR / "uploads"
    for name, content in ((IMAGE, b"\x89PNG"), ("spool/1.json", b"{}"), ("spool/2.tmp", b"half")):
        (settings.DATA_DIR / name).parent.mkdir(parents=True, exist_ok=True)
        (settings.DATA_DIR / name).write_bytes(content)
    return tmp_path / "data"


@pytest.fixture
def backup(data, tmp_path) -> Path:
    make_published(slug="news", provider=make_provider(name="Kept"))
    return write(tmp_path / "backup")


@pytest.fixture
def other_server(tmp_path):
    """The environment of a server with an empty database of the same kind."""
    folder = tmp_path / "other"
    environment = {
        **os.environ,
        "COPILOT_DATA_DIR": str(folder),
        "COPILOT_ENCRYPTION_KEYS": KEY,
        "DJANGO_SETTINGS_MODULE": "copilot_admin.settings",
    }
    if not IS_POSTGRESQL:
        yield environment | {"DATABASE_URL": f"sqlite:///{folder}/db.sqlite3"}
        return
    name = f"test_restored_{uuid.uuid4().hex}"
    with psycopg.connect(services.DATABASE_URL, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            url = urlsplit(services.DATABASE_URL)._replace(path=f"/{name}").geturl()
            yield environment | {"DATABASE_URL": url}
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def write(path: Path) -> Path:
    call_command("backup", str(path), stdout=StringIO())
    return path


def manage(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=BASE_DIR, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def read_members(path):
    with tarfile.open(path) as archive:
        files = ((member.name, archive.extractfile(member)) for member in archive.getmembers())
        return {name: file.read() for name, file in files if file is not None}


def rewrite_manifest(path: Path, tmp_path: Path, **changes: object) -> Path:
    """Write a backup that has nothing but a manifest."""
    manifest = json.loads(read_members(path)["manifest.json"]) | changes
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with tarfile.open(tmp_path / "changed", "w:gz") as archive:
        archive.add(tmp_path / "manifest.json", arcname="manifest.json")
    return tmp_path / "changed"


def restore_error(path: Path, *options: str) -> str:
    with pytest.raises(CommandError) as error:
        call_command("restore", str(path), *options)
    return str(error.value)


@pytest.mark.database
def test_backup_is_private_and_contains_no_keys_and_sessions(data, tmp_path):
    set_api_key(make_provider(), API_KEY)
    user, session = make_user(), SessionStore()
    session.create()
    path = write(tmp_path / "backup")
    members = read_members(path)
    assert set(members) == {"database", "manifest.json", IMAGE, "spool/1.json"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {one.name for one in tmp_path.iterdir()} == {"backup", "data"}
    content = b"".join(members.values())
    if IS_POSTGRESQL:
        dump = tmp_path / "dump"
        dump.write_bytes(members["database"])
        done = subprocess.run(
            ["pg_restore", "--file=-", str(dump)],  # noqa: S607  # as installed
            capture_output=True,
            check=True,
        )
        content = done.stdout
    assert user.username.encode() in content
    for secret in (API_KEY, settings.SECRET_KEY, KEY, session.session_key):
        assert secret.encode() not in content
    assert Session.objects.count() == 1
    assert AuditEntry.objects.latest("pk").action == Action.BACKED_UP


@pytest.mark.database
def test_restore_brings_everything_back(backup, data, other_server, tmp_path):
    SessionStore().create()
    folder = Path(other_server["COPILOT_DATA_DIR"])
    folder.mkdir()
    (folder / "audit-anchors.jsonl").write_text('{"sequence": 99, "hash": "ab"}\n')
    assert "names entry 99" in manage(other_server, "restore", str(backup))
    for name in (IMAGE, "spool/1.json"):
        assert (folder / name).read_bytes() == (data / name).read_bytes()
    assert not list(folder.glob(".restore-*"))
    manage(other_server, "restore", str(backup), "--force")  # over a database that has tables
    out = tmp_path / "copilots.yaml"
    code = EXPORT_AND_COUNT.format(out=str(out))
    assert "sessions: 0" in manage(other_server, "shell", "--command", code)
    assert "slug: news" in out.read_text()
    assert "name: Kept" in out.read_text()


@pytest.mark.parametrize("place", ["middle", "checksum", "end"])
def test_restore_refuses_a_damaged_file(backup, place):
    data = bytearray(backup.read_bytes())
    if place == "end":
        del data[-100:]
    else:
        data[len(data) // 2 if place == "middle" else -8] ^= 1
    backup.write_bytes(data)
    assert "complete backup" in restore_error(backup, "--force")


def test_restore_writes_nothing_outside_of_its_folders(backup, tmp_path):
    changed = tmp_path / "changed"
    (tmp_path / "x").write_text("x")
    with tarfile.open(changed, "w:gz") as archive:
        archive.add(tmp_path / "x", arcname="../../x")
    assert "complete backup" in restore_error(changed, "--force")


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"migrations": ["copilot_admin.9999_later"]}, "newer release"),
        ({"vendor": "oracle"}, "oracle"),
    ],
)
def test_restore_refuses_other_releases_and_databases(backup, tmp_path, changes, error):
    assert error in restore_error(rewrite_manifest(backup, tmp_path, **changes), "--force")


@pytest.mark.database
def test_restore_replaces_data_only_with_force(backup):
    assert "--force" in restore_error(backup)


@pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has the lock of the server")
@pytest.mark.database
def test_restore_changes_nothing_while_servers_are_connected(backup, other_server):
    manage(other_server, "restore", str(backup))
    with psycopg.connect(other_server["DATABASE_URL"]) as server:
        with pytest.raises(AssertionError, match="stop servers"):
            manage(other_server, "restore", str(backup), "--force")
        assert server.execute("SELECT slug FROM copilot_admin_copilot").fetchone() == ("news",)


@pytest.mark.parametrize("name", ["taken", "missing/backup"])
def test_backup_overwrites_nothing_and_names_the_file(data, tmp_path, name):
    (tmp_path / "taken").write_text("dear")
    with pytest.raises(CommandError, match=name):
        write(tmp_path / name)
    assert (tmp_path / "taken").read_text() == "dear"
