"""Puts a backup in its place: nothing is touched before all of it has been read and checked."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from errno import EISDIR
import os
from pathlib import Path

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import OperationalError, ProgrammingError, connection

from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.backups import postgresql, sqlite
from copilot_admin.jobs.backups.archive import ArchiveReader, open_archive
from copilot_admin.jobs.backups.left_out import LOG_INS
from copilot_admin.jobs.backups.manifest import SPOOL, UPLOADS
from copilot_admin.models import Conversation, Copilot, Provider
from copilot_admin.storage.schema import known_migrations, replaced_migrations

OURS = "copilot_admin."  # applications of others come and go with their packages


@dataclass(frozen=True, slots=True)
class Restored:
    """What was put back.

    Attributes:
        made_at: When the backup was made.
        uploads: How many files.
        needs_migrate: Whether its tables are older than this release.
        keys_missing: Names of encryption keys that are not among this process's.
    """

    made_at: str
    uploads: int
    needs_migrate: bool
    keys_missing: tuple[str, ...]


def restore(path: Path, *, force: bool, replacing: Callable[[], object] = lambda: None) -> Restored:
    """Restores a backup; no server may use the database meanwhile.

    Args:
        path: The backup.
        force: Whether what is there may go.
        replacing: Called when the database is about to be another one: from there on all is quick, and
            is done as a whole.

    Raises:
        ConfigurationError: It cannot be done; the text says why.
    """
    with open_archive(path) as backup:
        known = _names(known_migrations())
        _check_fits(backup, known | _names(replaced_migrations()))
        if not force and _is_in_use():
            raise ConfigurationError(
                "The database is not empty. With --force everything in it is replaced; "
                "`manage.py backup` keeps it first."
            )
        backup.check()
        uploads = backup.names(UPLOADS)
        with _put_back(
            _Files(backup, UPLOADS, uploads, Path(settings.MEDIA_ROOT)),
            _Files(backup, SPOOL, backup.names(SPOOL), Path(settings.DATA_DIR) / "spool"),
        ):
            _restore_database(backup, replacing)
        _end_log_ins()
        ring = {key.id for key in settings.ENCRYPTION_KEYS}
        return Restored(
            made_at=backup.head.made_at,
            uploads=len(uploads),
            needs_migrate=bool(known - set(backup.head.migrations)),
            keys_missing=tuple(key for key in backup.head.encryption_keys if key not in ring),
        )


def _names(migrations: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(f"{app}.{name}" for app, name in migrations)


def _check_fits(backup: ArchiveReader, known: frozenset[str]) -> None:
    head = backup.head
    if head.vendor != connection.vendor:
        raise ConfigurationError(
            f"The backup is of {head.vendor}, DATABASE_URL names {connection.vendor}. Set DATABASE_URL "
            "to a database of its kind."
        )
    newer = [one for one in head.migrations if one.startswith(OURS) and one not in known]
    if newer:
        raise ConfigurationError(
            f"The backup is of a newer release: its tables know {newer[-1]}. Restore it with that one."
        )


def _is_in_use() -> bool:
    """Whether there is anything that somebody made; tables alone are nothing."""
    try:
        return any(
            model._default_manager.exists()
            for model in (Copilot, Provider, Conversation, get_user_model())
        )
    except (ProgrammingError, OperationalError):  # no tables: `migrate` has not been run
        connection.close()
        return False


@dataclass(frozen=True, slots=True)
class _Files:
    """Members of a backup that belong into a folder."""

    backup: ArchiveReader
    prefix: str
    names: Sequence[str]
    folder: Path

    def written(self) -> Iterator[tuple[Path, Path]]:
        """Writes them beside their places: each as it lies there, and where it belongs."""
        for name in self.names:
            target = self.folder / name
            try:
                yield self._draft(name, target), target
            except OSError as error:
                raise ConfigurationError(
                    f"{target} cannot be written: {error.strerror}. Nothing was changed."
                ) from error

    def _draft(self, name: str, target: Path) -> Path:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if target.is_dir():
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        draft = target.with_name(f".{target.name}.restored")
        draft.unlink(missing_ok=True)  # of a try that broke off, or a link that leads elsewhere
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with ExitStack() as undo:
            undo.callback(draft.unlink)
            with os.fdopen(descriptor, "wb") as file:
                self.backup.copy(f"{self.prefix}{name}", file.write)
            undo.pop_all()
        return draft


@contextmanager
def _put_back(*parts: _Files) -> Iterator[None]:
    """Puts files over those of the same name if the block ends well; others stay, and are swept.

    They are written before the block, so that a folder without room or rights changes nothing.
    """
    drafts: list[tuple[Path, Path]] = []
    try:
        for files in parts:
            drafts.extend(files.written())
        yield
        for draft, target in drafts:
            draft.replace(target)
    finally:
        for draft, _target in drafts:
            draft.unlink(missing_ok=True)


def _end_log_ins() -> None:
    """Ends the log-ins that came back from a backup of an earlier release, which held them."""
    there = connection.introspection.table_names()
    for model in LOG_INS:
        if model._meta.db_table in there:
            model._default_manager.all().delete()


def _restore_database(backup: ArchiveReader, replacing: Callable[[], object]) -> None:
    if connection.vendor == "postgresql":
        postgresql.restore(backup, replacing)
    else:
        connection.close()
        sqlite.restore(backup, Path(connection.settings_dict["NAME"]).resolve(), replacing)
