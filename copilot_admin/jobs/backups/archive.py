"""The file of a backup: members are streamed into it and out of it, and checked on the way."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
import fcntl
import hashlib
import lzma
import os
from pathlib import Path
from typing import IO
import zipfile
import zlib

from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.backups import manifest
from copilot_admin.jobs.backups.manifest import Manifest, Member
from copilot_admin.storage.spool import sync_folder

CHUNK = 1024 * 1024  # what is in memory of a member at a time
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL
PARTIAL = ".partial"  # ends the name of a backup that is not whole yet
# What reading an archive breaks with that was cut or changed: also at names, and at other packings.
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)


class ArchiveWriter:
    """Adds members to an archive and remembers what they were."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self.members: dict[str, Member] = {}

    def add(self, name: str, source: IO[bytes]) -> None:
        """Adds all that a source gives."""
        digest, size = hashlib.sha256(), 0
        with self._archive.open(name, "w", force_zip64=True) as target:
            while chunk := source.read(CHUNK):
                digest.update(chunk)
                size += len(chunk)
                target.write(chunk)
        self.members[name] = Member(size, digest.hexdigest())

    def finish(self, head: Manifest) -> None:
        """Adds the manifest, which is last."""
        self._archive.writestr(manifest.NAME, manifest.written(head))


@contextmanager
def new_archive(path: Path) -> Iterator[ArchiveWriter]:
    """A backup that gets its name when it is whole and on the disk; only its owner may read it.

    Raises:
        ConfigurationError: There is such a file already, or it cannot be written.
    """
    try:
        if path.exists():
            raise ConfigurationError(f"{path} exists. Name another file, or move it away.")
        partial = path.with_name(path.name + PARTIAL)
        descriptor = _claimed(partial)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                # Level 1: a dump of PostgreSQL is packed already, and time counts beside a server.
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
                    yield ArchiveWriter(archive)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
            sync_folder(path.parent)
        finally:
            partial.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(f"cannot write {path}: {error.strerror}") from error


def _claimed(partial: Path) -> int:
    """The file that is written, which this process alone may; that of one that was killed goes first.

    Raises:
        ConfigurationError: Another process writes it.
    """
    try:
        return _locked(os.open(partial, _NEW, 0o600), partial)
    except FileExistsError:
        old = _locked(os.open(partial, os.O_RDWR | os.O_NOFOLLOW), partial)
    try:
        partial.unlink()
        return _locked(os.open(partial, _NEW, 0o600), partial)
    finally:
        os.close(old)


def _locked(descriptor: int, partial: Path) -> int:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise ConfigurationError(
            f"{partial} is being written by another `manage.py backup`. Wait for it, or name another "
            "file."
        ) from None
    except OSError:  # some network file systems have no locks
        return descriptor
    return descriptor


class ArchiveReader:
    """A backup whose manifest has been read."""

    def __init__(self, archive: zipfile.ZipFile, head: Manifest) -> None:
        self._archive = archive
        self.head = head

    def check(self) -> None:
        """Reads every member to its end.

        Raises:
            ConfigurationError: One lacks, was changed, or was not listed.
        """
        for name in self.head.members:
            self.copy(name, lambda _: None)

    def copy(self, name: str, take: Callable[[bytes], object]) -> None:
        """Hands over a member piece by piece.

        Raises:
            ConfigurationError: It is not what the manifest says.
        """
        listed = self.head.members[name]
        digest, size = hashlib.sha256(), 0
        for chunk in self._pieces(name):
            digest.update(chunk)
            size += len(chunk)
            if size > listed.size:  # it could go on for ever
                raise _damaged(name)
            take(chunk)
        if Member(size, digest.hexdigest()) != listed:
            raise _damaged(name)

    def _pieces(self, name: str) -> Iterator[bytes]:
        try:
            with self._archive.open(name) as source:
                while chunk := source.read(CHUNK):
                    yield chunk
        except (KeyError, OSError, *DAMAGED):
            raise _damaged(name) from None

    def names(self, folder: str) -> list[str]:
        """The members of a folder, by their path within it; none leads out of it.

        Raises:
            ConfigurationError: One would.
        """
        names = [name.removeprefix(folder) for name in self.head.members if name.startswith(folder)]
        for name in names:
            parts = Path(name).parts
            if not parts or Path(name).is_absolute() or ".." in parts or "\0" in name:
                raise _damaged(name)
        return names


@contextmanager
def open_archive(path: Path) -> Iterator[ArchiveReader]:
    """A backup to be read.

    Raises:
        ConfigurationError: It is none, was cut, or cannot be read.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):  # a device may have no end
        raise _no_backup(path)
    try:
        archive = zipfile.ZipFile(path)
    except OSError as error:
        raise ConfigurationError(f"cannot read {path}: {error.strerror}") from None
    except DAMAGED:
        raise _no_backup(path) from None
    with archive:
        try:
            if archive.getinfo(manifest.NAME).file_size > manifest.MOST_BYTES:
                raise _damaged(manifest.NAME)
            head = archive.read(manifest.NAME)
        except (KeyError, OSError, *DAMAGED):
            raise _damaged(manifest.NAME) from None
        yield ArchiveReader(archive, manifest.read(head))


def _no_backup(path: Path) -> ConfigurationError:
    return ConfigurationError(f"{path} is no backup, or was cut. Use another one.")


def _damaged(name: str) -> ConfigurationError:
    return ConfigurationError(
        f"The backup is damaged at {name!r}: nothing of it was used. Take another one."
    )
