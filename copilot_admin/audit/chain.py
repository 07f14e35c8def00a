"""Hash chain of the entries, and its verification in one pass with constant memory.

The keys are not in the database: its owner can't compute a hash, so edited and inserted entries are
found. Entries cut off at the end are found by the head, and by anchors if the head was moved too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from enum import StrEnum
import hashlib
import hmac
from itertools import chain
import json
import logging

from django.conf import settings
from django.db.models import QuerySet

from copilot_admin.models.audit import AuditEntry, AuditHead
from protocol.json import Json, JsonObject

BATCH_ENTRIES = 2000  # about a megabyte
# The hash covers every stored field but the hash itself; "at" is formatted apart.
HASHED_FIELDS = tuple(
    one.attname for one in AuditEntry._meta.concrete_fields if one.attname not in ("hash", "at")
)
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AuditKey:
    """HMAC key, with the id that entries name it by."""

    id: str
    secret: bytes = field(repr=False)


def derive_key(text: str) -> AuditKey:
    secret = hashlib.sha256(b"copilot_admin.audit:" + text.encode()).digest()
    return AuditKey(hashlib.sha256(secret).hexdigest()[:8], secret)


def signing_key() -> AuditKey:
    return derive_key((*settings.AUDIT_KEYS, settings.SECRET_KEY)[0])


def verification_keys() -> Mapping[str, AuditKey]:
    """Return the keys of entries of any age, by id."""
    texts = (*settings.AUDIT_KEYS, settings.SECRET_KEY, *map(str, settings.SECRET_KEY_FALLBACKS))
    return {key.id: key for key in map(derive_key, texts)}


def canonical(value: Json) -> str:
    """Return canonical JSON: ASCII, sorted keys, no white space. Hashes depend on it."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def hashed_fields(entry: AuditEntry) -> JsonObject:
    at = entry.at.astimezone(UTC).isoformat(timespec="microseconds")
    return {"at": at, **{name: getattr(entry, name) for name in HASHED_FIELDS}}


def compute_hash(entry: AuditEntry, key: AuditKey) -> str:
    """Return the hash of an entry; the hash of the previous entry is one of its fields."""
    text = canonical(hashed_fields(entry)).encode()
    return hmac.new(key.secret, text, hashlib.sha256).hexdigest()


def has_valid_hash(entry: AuditEntry, key: AuditKey) -> bool:
    return hmac.compare_digest(compute_hash(entry, key).encode(), entry.hash.encode())


def iterate_batches(
    after: int = 0, *, of: QuerySet[AuditEntry] | None = None
) -> Iterator[list[AuditEntry]]:
    """Yield entries behind a sequence number, oldest first, in batches that bound memory."""
    rows = (AuditEntry.objects.all() if of is None else of).order_by("sequence")
    while batch := list(rows.filter(sequence__gt=after)[:BATCH_ENTRIES]):
        yield batch
        after = batch[-1].sequence


def iterate_entries(
    after: int = 0, *, of: QuerySet[AuditEntry] | None = None
) -> Iterator[AuditEntry]:
    return chain.from_iterable(iterate_batches(after, of=of))


class ChainError(StrEnum):
    """Way in which a chain is broken; the value is the sentence for the operator."""

    MISSING = "Entry {0} is missing: entries before {1} were removed."
    TRUNCATED = "Entry {0} is missing: the end of the trail was cut off."
    EDITED = "Entry {0} was edited, or inserted without the key."
    UNLINKED = "Entry {0} does not follow the previous one: entries were removed or inserted."
    UNKNOWN_KEY = (
        "Entry {0} was hashed with a key that this server does not have. Add the key to "
        "COPILOT_AUDIT_KEYS, after the one in use."
    )
    WRONG_ANCHOR = "Entry {0} differs from its anchor: the trail was rewritten."
    BEYOND_HEAD = "Entry {0} was inserted after the newest one."


@dataclass(frozen=True, slots=True)
class BrokenChain:
    error: ChainError
    sequence: int
    found: int = 0  # number of the entry found instead, if one is missing

    def __str__(self) -> str:
        return self.error.format(self.sequence, self.found)


@dataclass(frozen=True, slots=True)
class Anchor:
    """Sequence number and hash of an entry, noted outside the database."""

    sequence: int  # 0 if only the hash is known
    hash: str


def find_break(
    entries: Iterable[AuditEntry],
    *,
    head: Anchor,
    keys: Mapping[str, AuditKey],
    anchors: Sequence[Anchor] = (),
) -> BrokenChain | None:
    """Return the first break of a chain; an anchor without a number may be the hash of any entry."""
    by_sequence = {one.sequence: one.hash for one in anchors if one.sequence}
    unnumbered = {one.hash for one in anchors if not one.sequence}
    last = Anchor(0, "")
    for entry in entries:
        if error := _entry_error(entry, last, head, keys):
            if error is ChainError.MISSING:
                return BrokenChain(error, last.sequence + 1, entry.sequence)
            return BrokenChain(error, entry.sequence)
        if by_sequence.pop(entry.sequence, entry.hash) != entry.hash:
            return BrokenChain(ChainError.WRONG_ANCHOR, entry.sequence)
        unnumbered.discard(entry.hash)
        last = Anchor(entry.sequence, entry.hash)
    if last.sequence != head.sequence or by_sequence:
        return BrokenChain(ChainError.TRUNCATED, last.sequence + 1)
    if last.hash != head.hash:
        return BrokenChain(ChainError.EDITED, last.sequence)
    return BrokenChain(ChainError.WRONG_ANCHOR, last.sequence) if unnumbered else None


def _entry_error(
    entry: AuditEntry, last: Anchor, head: Anchor, keys: Mapping[str, AuditKey]
) -> ChainError | None:
    if entry.sequence < 1:
        return ChainError.EDITED
    if entry.sequence != last.sequence + 1:
        return ChainError.MISSING
    if entry.sequence > head.sequence:
        return ChainError.BEYOND_HEAD
    key = keys.get(entry.key_id)
    if key is None:
        return ChainError.UNKNOWN_KEY
    if not has_valid_hash(entry, key):
        return ChainError.EDITED
    return None if entry.previous == last.hash else ChainError.UNLINKED


def get_head() -> Anchor:
    """Return the newest entry according to the head table."""
    head = AuditHead.objects.filter(pk=AuditHead.THE_ONE).first()
    return Anchor(head.sequence, head.hash) if head else Anchor(0, "")


def verify(anchors: Sequence[Anchor] = ()) -> tuple[Anchor, BrokenChain | None]:
    """Verify the stored trail while others may add to it; return the head and the first break."""
    last = AuditEntry.objects.values_list("sequence", flat=True).first() or 0
    head = get_head()  # read second, so that it isn't behind `last`
    rows = AuditEntry.objects.filter(sequence__lte=max(last, head.sequence))
    entries = iterate_entries(-(2**63), of=rows)
    return head, find_break(entries, head=head, keys=verification_keys(), anchors=anchors)
