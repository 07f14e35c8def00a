"""Backup and restore: database, uploads and spool in one compressed tar file."""

from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
import gzip
import json
import os
from pathlib import Path
import shutil
import sqlite3
import subprocess
import tarfile
from tempfile import TemporaryDirectory
from typing import Any
import zlib

from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import OperationalError, ProgrammingError, connection, connections
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from copilot_admin.config.encryption import key_id_of
from copilot_admin.copilots.providers import ENCRYPTED_COLUMNS
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Conversation, Copilot, Provider
from copilot_admin.storage.schema import known_migrations, replaced_migrations

DATABASE, UPLOADS, SPOOL, MANIFEST = "database", "uploads", "spool", "manifest.json"
# Session keys would sign in readers of the file.
EXCLUDED_TABLES = (UserSession._meta.db_table, Session._meta.db_table)
# Owners, rights and comments belong to the cluster that was backed up.
DUMP_OPTIONS = ("--no-owner", "--no-privileges", "--no-comments")
MAX_ERROR_LENGTH = 2000
# Runs in the transaction of the restore. A closed connection is listed for some milliseconds.
# Extensions stay, because creating them may need rights that this role doesn't have.
DROP_ALL = """
DO $$
DECLARE
  statement text;
BEGIN
  PERFORM pg_sleep(0.5);
  IF EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database()
      AND pid <> pg_backend_pid() AND backend_type = 'client backend') THEN
    RAISE 'other connections use the database: stop servers, workers and PgBouncer first';
  END IF;
  FOR statement IN
    SELECT format('DROP TABLE %I CASCADE', relname) FROM pg_class c
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e')
    UNION ALL SELECT format('DROP ROUTINE %s CASCADE', p.oid::regprocedure) FROM pg_proc p
      WHERE pronamespace = current_schema()::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP
    EXECUTE statement;
  END LOOP;
END $$;
"""


@dataclass(frozen=True, slots=True)
class RestoreSummary:
    made_at: str  # time of the backup in UTC
    needs_migrate: bool  # the backup is of an older release
    missing_keys: tuple[str, ...]  # ids of encryption keys that its secrets need


def write_backup(path: Path) -> None:
    """Write a backup while servers go on.

    The spool is copied before the database: a run that is stored in between is in both, and is
    restored once. Uploads come last, so that every file that the copy names is there.
    """
    if path.exists():
        raise ConfigurationError(f"{path} exists. Choose another name.")
    try:
        with TemporaryDirectory(dir=path.parent, prefix=".backup-") as name:
            stage = Path(name, "stage")
            stage.mkdir()
            manifest: dict[str, Any] = {"made_at": timezone.now().isoformat(timespec="seconds")}
            _copy_files(Path(settings.DATA_DIR, "spool"), stage / SPOOL, "*.json")
            migrations = MigrationRecorder(connection).applied_migrations()
            keys = _used_encryption_keys()
            _dump_database(stage / DATABASE)
            _copy_files(Path(settings.MEDIA_ROOT), stage / UPLOADS)
            manifest |= {
                "vendor": connection.vendor,
                "migrations": sorted(_full_names(migrations)),
                "encryption_keys": sorted(keys),
            }
            (stage / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
            draft = Path(name, "backup")
            draft.touch(mode=0o600)
            with tarfile.open(draft, "w:gz", compresslevel=1) as archive:
                archive.add(stage, arcname="")
            draft.replace(path)
    except OSError as error:
        raise ConfigurationError(f"Can't write {path}: {error.strerror}.") from error


def restore_backup(path: Path, *, force: bool) -> RestoreSummary:
    """Replace database, uploads and spool by a backup, after the whole file was checked.

    A database that isn't empty is replaced with `force` only.
    """
    data = Path(settings.DATA_DIR)
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
        with TemporaryDirectory(dir=data, prefix=".restore-") as name:
            stage = Path(name)
            manifest = _extract(path, stage)
            known = _full_names(known_migrations())
            _check_compatible(manifest, known | _full_names(replaced_migrations()))
            if not force and _has_data():
                raise ConfigurationError("The database isn't empty. Use --force to replace it.")
            _restore_database(stage)
            _move_files(stage / UPLOADS, Path(settings.MEDIA_ROOT))
            _move_files(stage / SPOOL, data / "spool")
    except OSError as error:
        raise ConfigurationError(f"Can't restore {path}: {error}.") from error
    own_keys = {key.id for key in settings.ENCRYPTION_KEYS}
    return RestoreSummary(
        made_at=manifest["made_at"],
        needs_migrate=bool(known - set(manifest["migrations"])),
        missing_keys=tuple(key for key in manifest["encryption_keys"] if key not in own_keys),
    )


def _copy_files(source: Path, target: Path, pattern: str = "*") -> None:
    for file in source.rglob(pattern):
        if file.is_symlink() or not file.is_file():
            continue
        copy = target / file.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):  # deleted in the meantime
            shutil.copyfile(file, copy)


def _used_encryption_keys() -> set[str]:
    return {
        key_id_of(text)
        for column in ENCRYPTED_COLUMNS
        for text in column.rows._default_manager.values_list(column.column, flat=True)
        if text
    }


def _full_names(migrations: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(f"{app}.{name}" for app, name in migrations)


def _dump_database(path: Path) -> None:
    if connection.vendor == "postgresql":
        excluded = (f"--exclude-table-data={table}" for table in EXCLUDED_TABLES)
        arguments = ("--format=custom", f"--file={path}", *DUMP_OPTIONS, *excluded)
        _run("pg_dump", *arguments, *_connection_arguments())
        return
    name = Path(connection.settings_dict["NAME"]).resolve()
    with (
        closing(sqlite3.connect(f"{name.as_uri()}?mode=ro", uri=True)) as source,
        closing(sqlite3.connect(path)) as copy,
    ):
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a write-ahead log
        copy.execute("PRAGMA secure_delete=ON")
        for table in EXCLUDED_TABLES:
            copy.execute(f'DELETE FROM "{table}"')  # noqa: S608  # a constant
        copy.commit()


def _extract(path: Path, stage: Path) -> Mapping[str, Any]:
    try:
        with gzip.open(path) as file, tarfile.open(fileobj=file) as archive:
            for member in archive.getmembers():
                name = Path(member.name)
                is_inside = not name.is_absolute() and ".." not in name.parts
                if not (is_inside and (member.isfile() or member.isdir())):
                    raise tarfile.ExtractError(member.name)
            # The names are checked: Python 3.11 before 3.11.4 has no filters.
            archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
            archive.extractall(stage)  # noqa: S202
            file.read()  # at the end, gzip compares its checksum
        return dict(json.loads((stage / MANIFEST).read_bytes()))
    except (tarfile.TarError, gzip.BadGzipFile, zlib.error, EOFError, ValueError) as error:
        raise ConfigurationError(f"{path} isn't a complete backup. Use another one.") from error


def _check_compatible(manifest: Mapping[str, Any], known: frozenset[str]) -> None:
    if manifest["vendor"] != connection.vendor:
        raise ConfigurationError(
            f"The backup is of {manifest['vendor']}, but DATABASE_URL is of {connection.vendor}."
        )
    newer = [one for one in manifest["migrations"] if one not in known]
    if any(one.startswith("copilot_admin.") for one in newer):
        raise ConfigurationError(
            f"The backup is of a newer release ({newer[-1]}). Restore it with that release."
        )


def _has_data() -> bool:
    models = (Copilot, Provider, Conversation, get_user_model())
    try:
        return any(model._default_manager.exists() for model in models)
    except (ProgrammingError, OperationalError):  # before the first `migrate`
        return False


def _restore_database(stage: Path) -> None:
    connections.close_all()
    if connection.vendor == "postgresql":
        connection.close_pool()  # type: ignore[attr-defined]  # of PostgreSQL only
        script = stage / "database.sql"
        _run("pg_restore", f"--file={script}", *DUMP_OPTIONS, str(stage / DATABASE))
        options = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--single-transaction")
        commands = (f"--command={DROP_ALL}", f"--file={script}")
        _run("psql", *options, *commands, *_connection_arguments())
        return
    database = Path(connection.settings_dict["NAME"]).resolve()
    for suffix in ("-wal", "-shm", "-journal"):  # the old log must not be applied to the new file
        database.with_name(database.name + suffix).unlink(missing_ok=True)
    _move_file(stage / DATABASE, database)


def _move_files(source: Path, target: Path) -> None:
    for file in [file for file in source.rglob("*") if file.is_file()]:
        _move_file(file, target / file.relative_to(source))


def _move_file(source: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.restored")
    shutil.move(source, draft)
    draft.chmod(0o600)
    draft.replace(target)


def _connection_arguments() -> list[str]:
    arguments, _ = connection.client.settings_to_cmd_args_env(connection.settings_dict, [])
    return ["--no-password", *arguments[1:]]


def _run(program: str, *arguments: str) -> None:
    """Run a program of PostgreSQL; ConfigurationError if it isn't installed or failed."""
    path = shutil.which(program)
    if path is None:
        raise ConfigurationError(f"{program} is missing. Install postgresql-client.")
    _, password = connection.client.settings_to_cmd_args_env(connection.settings_dict, [])
    done = subprocess.run(  # noqa: S603  # program and arguments are ours
        [path, *arguments], env=os.environ | (password or {}), capture_output=True, check=False
    )
    if done.returncode:
        output = done.stderr.decode(errors="replace").strip()[:MAX_ERROR_LENGTH]
        raise ConfigurationError(f"{program} failed: {output}")
