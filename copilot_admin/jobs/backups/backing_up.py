"""Writes a backup while servers go on."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path
import time
from typing import IO

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from copilot_admin.config.encryption import key_id_of
from copilot_admin.copilots.sealed_columns import SEALED_COLUMNS
from copilot_admin.jobs.backups import postgresql, sqlite
from copilot_admin.jobs.backups.archive import ArchiveWriter, new_archive
from copilot_admin.jobs.backups.manifest import DATABASE, SPOOL, UPLOADS, Manifest
from copilot_admin.jobs.backups.programs import major_of

WRITING_SECONDS = 60  # an upload that was changed sooner may be half there
IS_WHOLE = ".json"  # ends the name of an entry of the spool


@dataclass(frozen=True, slots=True)
class Written:
    """What a backup that was written holds, for who made it."""

    bytes: int
    uploads: int
    spooled: int


def back_up(path: Path) -> Written:
    """Writes a backup.

    First the spool: what leaves it meanwhile is in the database then, and an answer that is in both
    is kept once. Uploads before the database and the new ones after it: a row of the copy may name one
    that is swept while it is made, and one that has just come.

    Raises:
        ConfigurationError: It cannot be written; no file is left.
    """
    with new_archive(path) as archive:
        made_at = timezone.now()
        spooled = _add_folder(archive, _spool(), SPOOL, ending=IS_WHOLE)
        migrations = MigrationRecorder(connection).applied_migrations()
        keys = _encryption_keys()
        written = time.time() - WRITING_SECONDS
        uploads = _add_folder(archive, Path(settings.MEDIA_ROOT), UPLOADS, until=written)
        with _dump(path) as source:
            archive.add(DATABASE, source)
        uploads += _add_folder(archive, Path(settings.MEDIA_ROOT), UPLOADS)
        is_postgresql = connection.vendor == "postgresql"
        archive.finish(
            Manifest(
                made_at=made_at.isoformat(timespec="seconds"),
                vendor=connection.vendor,
                server_major=postgresql.server_major() if is_postgresql else 0,
                dump_major=major_of("pg_dump") if is_postgresql else 0,
                migrations=tuple(sorted(f"{app}.{name}" for app, name in migrations)),
                encryption_keys=keys,
                members=archive.members,
            )
        )
    return Written(path.stat().st_size, uploads, spooled)


def _dump(path: Path) -> AbstractContextManager[IO[bytes]]:
    if connection.vendor == "postgresql":
        return postgresql.dump()
    return sqlite.dump(Path(connection.settings_dict["NAME"]).resolve(), beside=path.parent)


def _spool() -> Path:
    return Path(settings.DATA_DIR) / "spool"


def _encryption_keys() -> tuple[str, ...]:
    """The names of the keys that the sealed secrets need."""
    texts = (
        text
        for column in SEALED_COLUMNS
        for text in column.rows._default_manager.values_list(column.column, flat=True)
    )
    return tuple(sorted({key_id_of(text) for text in texts if text}))


def _add_folder(
    archive: ArchiveWriter, folder: Path, prefix: str, *, ending: str = "", until: float = inf
) -> int:
    """Adds the files of a folder that are not in the archive yet, and says how many.

    Args:
        archive: The backup.
        folder: Where they are.
        prefix: What their names begin with in the archive.
        ending: What their names end with.
        until: When they were changed at the latest.
    """
    added = 0
    for file in _files(folder):
        name = f"{prefix}{file.relative_to(folder).as_posix()}"
        if name in archive.members or not file.name.endswith(ending):
            continue
        with suppress(FileNotFoundError):  # it went meanwhile: nothing referred to it
            if file.stat().st_mtime > until:
                continue
            source = file.open("rb")
            with source:
                archive.add(name, source)
            added += 1
    return added


def _files(folder: Path) -> Iterator[Path]:
    """The files below a folder, those of its folders too; a link leads out and is none."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
