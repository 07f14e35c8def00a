"""Several copilot files at once, also out of ZIP files: read as one, and carried out as one."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
import io
from lzma import LZMAError
from pathlib import PurePosixPath
from typing import Any
from zipfile import BadZipFile, ZipFile, ZipInfo
import zlib

from django.db import transaction
from django.utils.translation import gettext as _

from copilot_admin.import_export.changes import ImportedChange
from copilot_admin.import_export.faults import MAX_FAULTS, BadCopilotFile, FileFault
from copilot_admin.import_export.import_rights import ImportWish
from copilot_admin.import_export.importing import begun, carry_out
from copilot_admin.import_export.loading import MOST_BYTES, load
from copilot_admin.import_export.validation import validate
from copilot_admin.import_export.yaml_reading import MAX_CHARACTERS

SUFFIXES = (".yaml", ".yml", ".json")
MOST_FILES = 1000
MOST_IN_ALL = 2 * MOST_BYTES  # of all files, unpacked: what one is read in is bounded by `load`
# Copilots of all files. An import is one transaction, in which SQLite takes no questions: to publish 500
# takes 3.5 s on a busy machine, 5,000 took 37, and who asks waits for 4. And what is made of all is
# looked at by the collector of garbage in one go, during which nobody else is served.
MOST_COPILOTS = 500
_ZIP_START = (b"PK\x03\x04", b"PK\x05\x06")  # the latter where nothing is packed
_IS_ENCRYPTED = 0x1
# Exceptions of zipfile for damaged archives
_ZIP_ERRORS = (
    *(BadZipFile, zlib.error, LZMAError, EOFError, OSError),
    *(ValueError, LookupError, RuntimeError, OverflowError),
)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that somebody sent; `name` is for people, and may be anything."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file that was read into plain values."""

    name: str
    values: Any


@dataclass(frozen=True, slots=True)
class FileChange:
    """What an import does to a row, and which file says so."""

    file: str
    change: ImportedChange


def read_files(sent: Iterable[NamedFile]) -> list[ReadFile]:
    """Reads files, and those in ZIP files; all of them are checked as far as they can be alone.

    Raises:
        BadCopilotFile: With the first faults of the files, each by the name of its file.
    """
    found: list[ReadFile] = []
    faults: list[FileFault] = []
    files = list(_unpacked(sent))
    _check_yaml(files)
    left = MOST_COPILOTS
    for file in files:
        try:
            values = _loaded(file)
            left -= _number_of_copilots(values)
            if left >= 0:
                validate(values)
        except BadCopilotFile as error:
            faults += [_within(file.name, fault) for fault in error.faults]
            if len(faults) > MAX_FAULTS:
                break
        else:
            found.append(ReadFile(file.name, values))
        if left < 0:
            raise BadCopilotFile([FileFault("", _too_many_copilots())])
    faults += _repeated(found)
    if not files:
        faults.append(FileFault("", _("There is no copilot file in what you sent.")))
    if faults:
        raise BadCopilotFile(faults)
    return found


def import_files(
    files: Sequence[ReadFile], wish: ImportWish, *, dry_run: bool
) -> tuple[FileChange, ...]:
    """Carries out what files say, all of it or nothing.

    Args:
        files: As `read_files` gives them.
        wish: How they are to be imported.
        dry_run: Tells what would happen and changes nothing.

    Raises:
        BadCopilotFile: With every fault of the first file that has any; nothing was changed.
    """
    checked = [(file.name, validate(file.values)) for file in files]
    changes: list[FileChange] = []
    with transaction.atomic():
        work = begun([file for _, file in checked], wish)
        for name, file in checked:
            try:
                changes += [FileChange(name, change) for change in carry_out(file, work)]
            except BadCopilotFile as error:
                raise BadCopilotFile(_within(name, fault) for fault in error.faults) from error
        transaction.set_rollback(dry_run)
        if not dry_run:
            work.keep_pictures()
    return tuple(changes)


def _unpacked(sent: Iterable[NamedFile]) -> Iterator[NamedFile]:
    left, count = MOST_IN_ALL, 0
    for outer in sent:
        for file in _in_zip(outer, left) if outer.data.startswith(_ZIP_START) else [outer]:
            left, count = left - len(file.data), count + 1
            if left < 0 or count > MOST_FILES:
                sentence = _(
                    "That is too much at once: %(files)d files and %(megabytes)d MB, unpacked, are "
                    "the most. Send some of them, then the others."
                ) % {"files": MOST_FILES, "megabytes": MOST_IN_ALL // 1024**2}
                raise BadCopilotFile([FileFault("", sentence)])
            yield file


def _check_yaml(files: Iterable[NamedFile]) -> None:
    sizes = [len(file.data) for file in files if not file.name.lower().endswith(".json")]
    if len(sizes) > 1 and sum(sizes) > MAX_CHARACTERS:  # `read_yaml` checks a single file
        sentence = _(
            "This is %(found)d kB of YAML, which takes long to read; %(most)d kB are the most at "
            "once. Send some of it, then the rest, or write it as JSON."
        ) % {"found": sum(sizes) // 1024, "most": MAX_CHARACTERS // 1024}
        raise BadCopilotFile([FileFault("", sentence)])


def _too_many_copilots() -> str:
    return _(
        "There are more than %(most)d copilots in what you sent. Send some of them, then the "
        "others, or use `manage.py copilots import`."
    ) % {"most": MOST_COPILOTS}


def _loaded(file: NamedFile) -> Any:
    try:
        return load(file.data)
    except BadCopilotFile as error:
        if _has_known_suffix(file.name):
            raise
        # How it could be read would help nobody: it is a picture, say, or a PDF.
        raise BadCopilotFile([FileFault("", _no_copilot_file())]) from error


def _has_known_suffix(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in SUFFIXES


def _no_copilot_file() -> str:
    return _("is no copilot file: their names end in .yaml, .yml or .json.")


def _number_of_copilots(values: Any) -> int:
    found = values.get("copilots") if isinstance(values, dict) else None
    return len(found) if isinstance(found, list) else 0


def _in_zip(outer: NamedFile, left: int) -> Iterator[NamedFile]:
    try:
        with ZipFile(io.BytesIO(outer.data)) as archive:
            for info in archive.infolist():
                if _is_wanted(info, outer.name):
                    with archive.open(info) as file:
                        data = file.read(min(left, MOST_BYTES) + 1)
                    left -= len(data)
                    yield NamedFile(f"{outer.name}: {info.filename}", data)
    except _ZIP_ERRORS as error:
        sentence = _("This ZIP file is damaged or packed in a way that cannot be read.")
        raise BadCopilotFile([FileFault(outer.name, sentence)]) from error


def _is_wanted(info: ZipInfo, outer: str) -> bool:
    path = PurePosixPath(info.filename)
    if info.is_dir() or "__MACOSX" in path.parts or path.name.startswith("."):
        return False
    if not _has_known_suffix(info.filename):
        raise BadCopilotFile([FileFault(f"{outer}: {info.filename}", _no_copilot_file())])
    if info.flag_bits & _IS_ENCRYPTED:
        sentence = _("has a password. Pack it without one.")
        raise BadCopilotFile([FileFault(f"{outer}: {info.filename}", sentence)])
    return True


def _repeated(files: Iterable[ReadFile]) -> list[FileFault]:
    slugs = [(str(entry["slug"]), file.name) for file in files for entry in _copilots(file.values)]
    counts = Counter(slug for slug, _ in slugs)
    return [
        FileFault(name, _("the copilot '%(slug)s' is in more than one file.") % {"slug": slug})
        for slug, name in slugs
        if counts[slug] > 1
    ]


def _copilots(values: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    found: Sequence[Mapping[str, Any]] = values.get("copilots", [])
    return found


def _within(name: str, fault: FileFault) -> FileFault:
    return FileFault(f"{name}: {fault.path}" if fault.path else name, fault.sentence)
