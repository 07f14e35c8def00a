"""Uploaded copilot files, several at once or in ZIP files."""

from collections import Counter
from collections.abc import Iterable, Iterator
import io
from lzma import LZMAError
from pathlib import PurePosixPath
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile
import zlib

from django.utils.translation import gettext as _

from copilot_admin.import_export.errors import BadCopilotFile, FileError
from copilot_admin.import_export.formats import MAX_BYTES, load
from copilot_admin.import_export.schema import CopilotFile, validate

SUFFIXES = (".yaml", ".yml", ".json")
MAX_FILES = 1000
MAX_TOTAL_BYTES = 2 * MAX_BYTES  # of all files, unpacked
# Raised by zipfile for damaged archives.
_ZIP_ERRORS = (BadZipFile, zlib.error, LZMAError, EOFError, OSError, ValueError, RuntimeError)


class UploadedFile(NamedTuple):
    name: str
    data: bytes


class ReadFile(NamedTuple):
    """A valid file: its plain values, and what they mean."""

    name: str
    values: Any
    file: CopilotFile


def read_files(sent: Iterable[UploadedFile]) -> list[ReadFile]:
    """Read files, and those in ZIP files; raises `BadCopilotFile` with every error of all."""
    found: list[ReadFile] = []
    errors: list[FileError] = []
    for file in _unpack(sent):
        try:
            if PurePosixPath(file.name).suffix.lower() not in SUFFIXES:
                sentence = _("is not a copilot file: their names end in .yaml, .yml or .json.")
                raise BadCopilotFile.of_file(sentence)
            values = load(file.data)
            found.append(ReadFile(file.name, values, validate(values)))
        except BadCopilotFile as error:
            errors += [one.within(file.name) for one in error.errors]
    slugs = [(entry.slug, one.name) for one in found for entry in one.file.copilots]
    counts = Counter(slug for slug, _name in slugs)
    sentence = _("the copilot '%(slug)s' is in more than one file.")
    errors += [
        FileError(name, sentence % {"slug": slug}) for slug, name in slugs if counts[slug] > 1
    ]
    if not found and not errors:
        errors.append(FileError("", _("There is no copilot file in what you sent.")))
    if errors:
        raise BadCopilotFile(errors)
    return found


def _unpack(sent: Iterable[UploadedFile]) -> Iterator[UploadedFile]:
    left, count = MAX_TOTAL_BYTES, 0
    for outer in sent:
        is_zip = outer.data.startswith((b"PK\x03\x04", b"PK\x05\x06"))
        for file in _read_zip(outer, left) if is_zip else [outer]:
            left, count = left - len(file.data), count + 1
            if left < 0 or count > MAX_FILES:
                sentence = _("More than %(files)d files or %(megabytes)d MB, unpacked.")
                sentence %= {"files": MAX_FILES, "megabytes": MAX_TOTAL_BYTES // 1024**2}
                raise BadCopilotFile.of_file(sentence)
            yield file


def _read_zip(outer: UploadedFile, left: int) -> Iterator[UploadedFile]:
    try:
        with ZipFile(io.BytesIO(outer.data)) as archive:
            for info in archive.infolist():
                path = PurePosixPath(info.filename)
                if info.is_dir() or "__MACOSX" in path.parts or path.name.startswith("."):
                    continue
                with archive.open(info) as file:
                    data = file.read(left + 1)
                left -= len(data)
                yield UploadedFile(f"{outer.name}: {info.filename}", data)
    except _ZIP_ERRORS as error:
        sentence = _("This ZIP file is damaged, or packed with a password.")
        raise BadCopilotFile([FileError(outer.name, sentence)]) from error
