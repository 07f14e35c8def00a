"""Whether the chain is whole, and where it is not: one pass in constant memory, nothing is changed.

Whoever has the database but not the key cannot make a hash, so what he edits or puts in is found. What
he cuts off at the end is found by the head, and by anchors where he moved that too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
import hmac

from copilot_admin.audit.chain import hash_of
from copilot_admin.audit.following import FIRST, UnreadableEntry, entries_after, is_number
from copilot_admin.audit.keys import AuditKey, known_keys
from copilot_admin.models.audit import AuditEntry, AuditHead


class Fault(StrEnum):
    """In which way a chain is broken."""

    MISSING = "missing"
    CUT = "cut"
    EDITED = "edited"
    UNLINKED = "unlinked"
    UNKNOWN_KEY = "unknown key"
    NO_ANCHOR = "no anchor"
    BEYOND_HEAD = "beyond the head"


SENTENCES: Mapping[Fault, str] = {
    Fault.MISSING: "Entry {0} is missing: entries before {1} were taken out.",
    Fault.CUT: "Entry {0} is missing: the end of the trail was cut off.",
    Fault.EDITED: "Entry {0!r} was edited, or put in by somebody without the key.",
    Fault.UNLINKED: "Entry {0} does not follow the one before it: entries were taken out or put in.",
    Fault.UNKNOWN_KEY: "Entry {0} was hashed with a key that this server does not have. Add the key "
    "to COPILOT_AUDIT_KEYS, after the one in use.",
    Fault.NO_ANCHOR: "Entry {0} is not the one that an anchor names: the trail was made anew.",
    Fault.BEYOND_HEAD: "Entry {0} was put in after the newest one.",
}


@dataclass(frozen=True, slots=True)
class BrokenChain:
    """The first place at which a chain is broken.

    Attributes:
        fault: How.
        sequence: The entry.
        found: The entry that stands there instead, where one is missing.
    """

    fault: Fault
    sequence: int
    found: int = 0

    @property
    def sentence(self) -> str:
        """Where the chain is broken and how, as an operator reads it."""
        return SENTENCES[self.fault].format(self.sequence, self.found)


@dataclass(frozen=True, slots=True)
class Anchor:
    """What was known of the chain at some time, kept where nobody changes it with the database.

    Attributes:
        sequence: The newest entry of that time; 0 where only its hash is known.
        hash: Its hash.
    """

    sequence: int
    hash: str


@dataclass(slots=True)
class _Place:
    """How far a pass has come."""

    sequence: int = 0
    hash: str = ""


def first_break(
    entries: Iterable[AuditEntry],
    *,
    head: Anchor,
    keys: Mapping[str, AuditKey],
    anchors: Sequence[Anchor] = (),
) -> BrokenChain | None:
    """The first place at which the chain is broken; None: it is whole.

    Args:
        entries: All of them, the oldest first.
        head: The newest entry, as the table of the head says it.
        keys: The keys that entries of any age were hashed with.
        anchors: What was known earlier; one without a number has to be the hash of some entry.
    """
    named = {one.sequence: one.hash for one in anchors if one.sequence}
    wanted = {one.hash for one in anchors if not one.sequence}
    place = _Place()
    for entry in entries:
        broken = _broken(entry, place, head=head, keys=keys)
        if broken is None and named.pop(entry.sequence, entry.hash) != entry.hash:
            broken = BrokenChain(Fault.NO_ANCHOR, entry.sequence)
        if broken is not None:
            return broken
        wanted.discard(entry.hash)
        place.sequence, place.hash = entry.sequence, entry.hash
    return next(_broken_end(place, head, named, wanted), None)


def _broken(
    entry: AuditEntry, place: _Place, *, head: Anchor, keys: Mapping[str, AuditKey]
) -> BrokenChain | None:
    if not is_number(entry.sequence):
        return BrokenChain(Fault.EDITED, entry.sequence)
    if entry.sequence != place.sequence + 1:
        return BrokenChain(Fault.MISSING, place.sequence + 1, entry.sequence)
    if entry.sequence > head.sequence:
        return BrokenChain(Fault.BEYOND_HEAD, entry.sequence)
    key = keys.get(entry.key_id)
    if key is None:
        return BrokenChain(Fault.UNKNOWN_KEY, entry.sequence)
    if not is_as_hashed(entry, key):
        return BrokenChain(Fault.EDITED, entry.sequence)
    if entry.previous != place.hash:
        return BrokenChain(Fault.UNLINKED, entry.sequence)
    return None


def is_as_hashed(entry: AuditEntry, key: AuditKey) -> bool:
    """Whether an entry has its hash; SQLite keeps values in it that are none of their columns."""
    try:
        return hmac.compare_digest(hash_of(entry, key).encode(), entry.hash.encode())
    except (AttributeError, TypeError, ValueError):
        return False


def _broken_end(
    place: _Place, head: Anchor, named: Mapping[int, str], wanted: set[str]
) -> Iterator[BrokenChain]:
    if place.sequence != head.sequence:
        yield BrokenChain(Fault.CUT, place.sequence + 1)
    elif place.hash != head.hash:
        yield BrokenChain(Fault.EDITED, place.sequence)
    if named:
        yield BrokenChain(Fault.CUT, place.sequence + 1)
    if wanted:
        yield BrokenChain(Fault.NO_ANCHOR, place.sequence)


def head_of_trail() -> Anchor:
    """The newest entry, as the table of the head says it."""
    head = AuditHead.objects.filter(pk=AuditHead.THE_ONE).first()
    return Anchor(head.sequence, head.hash) if head else Anchor(0, "")


def check(anchors: Sequence[Anchor] = ()) -> tuple[Anchor, BrokenChain | None]:
    """Goes through the trail of the database, while others may add to it.

    Returns:
        How far it was looked at, and where it is broken.
    """
    last = AuditEntry.objects.values_list("sequence", flat=True).first() or FIRST
    head = head_of_trail()  # read later, it cannot be behind what was committed before
    up_to = max(last, head.sequence) if is_number(last) else None
    try:
        entries = entries_after(None, up_to=up_to)
        return head, first_break(entries, head=head, keys=known_keys(), anchors=anchors)
    except UnreadableEntry as error:
        return head, BrokenChain(Fault.EDITED, error.sequence)
