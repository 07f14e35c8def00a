"""The keys with which entries are hashed: without them nobody who holds the database makes a chain."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import hashlib

from django.conf import settings


@dataclass(frozen=True, slots=True)
class AuditKey:
    """A key, and the name under which an entry says that it was hashed with it."""

    id: str
    secret: bytes = field(repr=False)


def audit_key(text: str) -> AuditKey:
    """The key that follows from a secret."""
    secret = hashlib.sha256(b"copilot_admin.audit:" + text.encode()).digest()
    return AuditKey(hashlib.sha256(secret).hexdigest()[:8], secret)


def signing_key() -> AuditKey:
    """The key with which new entries are signed."""
    return audit_key((*settings.AUDIT_KEYS, settings.SECRET_KEY)[0])


def known_keys() -> Mapping[str, AuditKey]:
    """The keys by which entries of any age are checked."""
    texts = (*settings.AUDIT_KEYS, settings.SECRET_KEY, *map(str, settings.SECRET_KEY_FALLBACKS))
    return {key.id: key for key in map(audit_key, texts)}
