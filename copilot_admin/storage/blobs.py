"""Big JSON values, each stored once: compressed, and keyed by the SHA-256 of its JSON.

Callers choose the boundaries, so that what requests repeat is a value of its own: a function call, a
function result, the payload of an event, and the large fields of a request (`transcripts.matching.messages`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
import json
import zlib

from django.db import connection
from django.utils import timezone
import orjson

from copilot_admin.models import Blob
from copilot_admin.storage.sql import in_batches, placeholders
from protocol.json import Json

MIN_BLOB_BYTES = 2048  # of JSON; below it a row of its own costs more than it saves
COMPRESSION_LEVEL = 3  # twice as fast as zlib's default, and a tenth larger
BATCH = 500  # hashes of one statement; SQLite takes 32,766 parameters

_BLOB = Blob._meta.db_table
_INSERT = f"""
INSERT INTO {_BLOB} (sha256, data, size, created_at) VALUES (%s, %s, %s, %s)
ON CONFLICT DO NOTHING
"""  # noqa: S608  # the name of a table


@dataclass(frozen=True, slots=True)
class BlobValue:
    """A value that is about to be stored: its key and its JSON."""

    sha: str
    data: bytes


def to_blob(value: Json) -> BlobValue:
    data = dump_json(value)
    return BlobValue(sha256(data).hexdigest(), data)


def to_big_blob(value: Json) -> BlobValue | None:
    """Return a value as it is stored, or None if it is too small for a row of its own."""
    blob = to_blob(value)
    return blob if len(blob.data) > MIN_BLOB_BYTES else None


def dump_json(value: Json) -> bytes:
    """Return a value as JSON whose keys keep their order, which is that of a table's columns."""
    try:
        return orjson.dumps(value, default=dict)
    except orjson.JSONEncodeError:  # nested over 254 deep, beyond 64 bits, lone surrogates
        return json.dumps(value, separators=(",", ":")).encode()


def save(blobs: Iterable[BlobValue]) -> None:
    """Store the values that aren't stored yet, in the order of their keys.

    PostgreSQL keeps those that are stored from a sweep until the commit.
    """
    by_sha = {blob.sha: blob for blob in blobs}
    if not by_sha:
        return
    missing = sorted(by_sha.keys() - _hold_stored(sorted(by_sha)))
    now = connection.ops.adapt_datetimefield_value(timezone.now())
    with connection.cursor() as cursor:
        for sha in missing:
            data = by_sha[sha].data
            packed = zlib.compress(data, COMPRESSION_LEVEL)
            cursor.execute(_INSERT, [sha, packed, len(data), now])


def _hold_stored(shas: list[str]) -> set[str]:
    stored: set[str] = set()
    lock = "FOR KEY SHARE" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        for some in in_batches(shas, BATCH):
            among = placeholders(len(some))
            cursor.execute(
                f"SELECT sha256 FROM {_BLOB} WHERE sha256 IN ({among}) ORDER BY sha256 {lock}",  # noqa: S608  # names only
                some,
            )
            stored.update(sha for (sha,) in cursor.fetchall())
    return stored


def load(shas: Iterable[str]) -> Mapping[str, Json]:
    values: dict[str, Json] = {}
    for some in in_batches(sorted(set(shas)), BATCH):
        for sha, data in Blob.objects.filter(pk__in=some).values_list("sha256", "data"):
            values[sha] = json.loads(zlib.decompress(data))
    return values
