"""How an entry is hashed with the one before it."""

from datetime import UTC
import hashlib
import hmac

from copilot_admin.audit.changes import canonical
from copilot_admin.audit.keys import AuditKey
from copilot_admin.models.audit import AuditEntry
from protocol.json import JsonObject

# What the hash covers, and what a line for another system says: all that is stored but the hash.
HASHED = tuple(
    one.attname for one in AuditEntry._meta.concrete_fields if one.attname not in ("hash", "at")
)


def fields_of(entry: AuditEntry) -> JsonObject:
    """An entry as it is hashed."""
    at = entry.at.astimezone(UTC).isoformat(timespec="microseconds")
    return {"at": at, **{name: getattr(entry, name) for name in HASHED}}


def hash_of(entry: AuditEntry, key: AuditKey) -> str:
    """The hash of an entry: `previous` is one of its fields."""
    return hmac.new(key.secret, canonical(fields_of(entry)).encode(), hashlib.sha256).hexdigest()
