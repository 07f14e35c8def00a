"""What a backup says of itself: which release, which tables, which files with which checksums."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
import json
from typing import Any

from copilot_admin.errors import ConfigurationError

FORMAT = 1
NAME = "manifest.json"
DATABASE = "database"  # the member that holds it
UPLOADS = "uploads/"
SPOOL = "spool/"
MOST_BYTES = 64 * 1024 * 1024  # of a manifest: some 300,000 uploads


@dataclass(frozen=True, slots=True)
class Member:
    """A file of a backup, as its manifest names it."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The head of a backup.

    Attributes:
        made_at: When the copy of the database was begun, in UTC.
        vendor: `sqlite` or `postgresql`.
        server_major: Of PostgreSQL, 0 of SQLite.
        dump_major: Of the program that wrote the dump, 0 of SQLite.
        migrations: The tables are those after these, each `application.name`.
        encryption_keys: Names of the keys that its sealed secrets need; never a key.
        members: By their names in the archive.
    """

    made_at: str
    vendor: str
    server_major: int
    dump_major: int
    migrations: tuple[str, ...]
    encryption_keys: tuple[str, ...]
    members: Mapping[str, Member]


def written(manifest: Manifest) -> bytes:
    """The manifest as the JSON of its file."""
    return json.dumps({"format": FORMAT, **asdict(manifest)}, indent=1).encode()


def read(data: bytes) -> Manifest:
    """The manifest of a file.

    Raises:
        ConfigurationError: It is none that this release understands.
    """
    try:
        found = _object(json.loads(data))
        if _number(found.pop("format")) != FORMAT:
            raise ConfigurationError(
                "The backup was written in another format. Restore it with the release that wrote it."
            )
        members = {name: _member(row) for name, row in _object(found.pop("members")).items()}
        for name in ("migrations", "encryption_keys"):
            found[name] = tuple(map(_text, _list(found[name])))
        for name in ("made_at", "vendor"):
            _text(found[name])
        for name in ("server_major", "dump_major"):
            _number(found[name])
        return Manifest(members=members, **found)
    except (ValueError, TypeError, KeyError, RecursionError):
        raise ConfigurationError(
            "The backup's manifest cannot be read: the file was changed. Use another backup."
        ) from None


def _member(row: Mapping[str, object]) -> Member:
    member = Member(**row)  # type: ignore[arg-type]  # looked at in the next line
    _number(member.size)
    _text(member.sha256)
    return member


def _number(value: object) -> int:
    if type(value) is not int:  # true is an int as well
        raise TypeError
    return value


def _list(value: object) -> list[object]:
    if not isinstance(value, list):
        raise TypeError
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError
    return value
