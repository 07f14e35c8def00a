"""Big and repeated JSON as rows, stored once; see `packing` for how it is cut."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
import zlib

from django.db import OperationalError, connection
from django.utils import timezone

from copilot_admin.models import Blob, BlobPart
from copilot_admin.storage.packing import Packed, Sha, refs_in, whole_value
from copilot_admin.storage.selects import SelectMany
from copilot_admin.storage.statements import Insert
from protocol.json import Json

QUICK = 3  # zlib level: twice as fast as the default, a tenth larger
MOST_FOLLOWED = 64  # parts of one level of a value whose beginning is wanted
FEW = 50  # parts that are asked for and held in one statement
ASKED_AT_ONCE = 500  # hashes in one query; SQLite takes 32,766 parameters

MOST_BYTES = 1024 * 1024  # of the parts that one statement stores; what is larger has its own

_INSERT = Insert(Blob, or_ignore=True, large="data")
_STORED = SelectMany(Blob, "sha256", among="sha256")


def save(packed: Iterable[Packed]) -> None:
    """Stores the parts that are not stored yet; nobody sweeps the others before the commit."""
    values = tuple(packed)
    parts = {sha: part for one in values for sha, part in one.parts.items()}
    wanted = _missing(parts, roots={one.sha for one in values}) if parts else ()
    missing = {sha: parts[sha] for sha in sorted(wanted)}
    if not missing:
        return
    now = timezone.now()
    for some in _in_statements(missing):
        rows = (
            {"sha256": sha, "data": zlib.compress(data, QUICK), "size": len(data)}
            for sha, data in some
        )
        if len(some) == 1:
            _INSERT(**next(rows), created_at=now)
        else:
            Blob.objects.bulk_create(
                [Blob(**row, created_at=now) for row in rows], ignore_conflicts=True
            )
    edges = [
        BlobPart(whole_id=sha, part_id=part)
        for sha, (_, refs) in missing.items()
        for part in sorted(set(refs))
    ]
    if edges:
        BlobPart.objects.bulk_create(edges, ignore_conflicts=True)


def load(shas: Iterable[Sha], *, most: int | None = None) -> dict[Sha, Json]:
    """Reads values with all their parts; one query per level of parts, which are few.

    Args:
        shas: Of the values.
        most: Bytes of one part, and some thousand elements of a list, that are wanted: of what is
            bigger only the beginning is unpacked, as a `CutText` or a `CutList`.

    Raises:
        OperationalError: A part is not what was stored.
    """
    roots = set(shas)
    read: dict[Sha, bytes] = {}
    wanted = {root: [root] for root in roots}
    while wanted:
        found = dict(_read({ref for refs in wanted.values() for ref in refs} - read.keys(), most))
        read |= found
        below = {root: _below(refs, read, most) for root, refs in wanted.items()}
        wanted = {root: refs for root, refs in below.items() if refs}
    whole: dict[Sha, Json] = {}
    return {sha: whole_value(sha, read, whole) for sha in roots if sha in read}


def _below(refs: Iterable[Sha], read: Mapping[Sha, bytes], most: int | None) -> list[Sha]:
    """The parts to which some refer, in their order; with a limit no more than the first ones."""
    below = (ref for one in refs for ref in refs_in(read.get(one, b"")))
    return list(dict.fromkeys(below if most is None else islice(below, MOST_FOLLOWED)))


def _missing(
    parts: Mapping[Sha, tuple[bytes, tuple[Sha, ...]]], *, roots: Collection[Sha]
) -> set[Sha]:
    """The parts that are to be stored.

    On PostgreSQL a sweep may be about to delete one that is there. So those to which what is stored
    here will refer are held; their own parts cannot go before them. Of few parts all are held, which
    tells as well which of them are there.
    """
    if connection.vendor == "postgresql" and len(parts) <= FEW:
        return parts.keys() - _held(parts)
    missing = parts.keys() - {sha for (sha,) in _STORED.all(parts)}
    while connection.vendor == "postgresql":
        needed = {*roots, *(ref for sha in missing for ref in parts[sha][1])} - missing
        swept = needed - _held(needed)
        if not swept:
            break
        missing |= swept
    return missing


def _in_statements(
    parts: Mapping[Sha, tuple[bytes, tuple[Sha, ...]]],
) -> Iterator[list[tuple[Sha, bytes]]]:
    """Parts in groups that make no long statement; one that is large is alone."""
    some: list[tuple[Sha, bytes]] = []
    size = 0
    for sha, (data, _) in parts.items():
        if some and size + len(data) > MOST_BYTES:
            yield some
            some, size = [], 0
        some.append((sha, data))
        size += len(data)
    yield some


def _held(shas: Iterable[Sha]) -> set[Sha]:
    """The stored ones of some parts, which stay until the commit; others may hold them too."""
    held: set[Sha] = set()
    table = connection.ops.quote_name(Blob._meta.db_table)
    for some in _batches(shas):
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT sha256 FROM {table} WHERE sha256 = ANY(%s) ORDER BY sha256 FOR KEY SHARE",  # noqa: S608  # the name of a table
                [some],
            )
            held |= {row[0] for row in cursor.fetchall()}
    return held


def _read(shas: Iterable[Sha], most: int | None) -> Iterator[tuple[Sha, bytes]]:
    for some in _batches(shas):
        for blob in Blob.objects.filter(sha256__in=some).only("data"):
            yield blob.sha256, _unpacked(bytes(blob.data), most)


def _unpacked(packed: bytes, most: int | None) -> bytes:
    try:
        if most is None:
            return zlib.decompress(packed)
        return zlib.decompressobj().decompress(packed, most)
    except zlib.error as error:  # it has a checksum
        raise OperationalError("the database gives something else than was written") from error


def _batches(shas: Iterable[Sha]) -> Iterator[list[Sha]]:
    some = sorted(shas)
    for start in range(0, len(some), ASKED_AT_ONCE):
        yield some[start : start + ASKED_AT_ONCE]
