"""Encrypts the keys of providers, so that a stolen database or backup holds none of them.

AES-256-GCM. A sealed text is `<key id>:<base64 of nonce and ciphertext>`. It is bound to its
place (table, row, field): moved to another row it does not open.
Source: NIST SP 800-38D, section 8.2.2 (random nonces of 96 bits).
"""

import base64
import binascii
from dataclasses import dataclass, field
import hashlib
import os

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings

from copilot_admin.errors import ConfigurationError

KEY_BYTES = 32
NONCE_BYTES = 12
FEWEST_DIFFERENT_BYTES = 16  # 32 random bytes have about 30; a typed pattern has fewer


@dataclass(frozen=True, slots=True)
class EncryptionKey:
    """A secret key and the short name by which sealed texts refer to it."""

    id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SealedPlace:
    """Where a sealed text belongs."""

    table: str
    row: str
    field: str

    def __bytes__(self) -> bytes:
        return "\x1f".join((self.table, self.row, self.field)).encode()


def new_key() -> str:
    """A new key as text, for `COPILOT_ENCRYPTION_KEYS`."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode("ascii")


def read_key(text: str) -> EncryptionKey:
    """Reads one key of the ring from its base64.

    Raises:
        ConfigurationError: It is not 32 bytes in base64, or a pattern rather than random bytes.
    """
    try:
        secret = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        secret = b""
    if len(secret) != KEY_BYTES:
        raise ConfigurationError("an encryption key is 32 random bytes in URL-safe base64")
    if len(set(secret)) < FEWEST_DIFFERENT_BYTES:
        raise ConfigurationError("an encryption key must be random bytes, not a pattern")
    return EncryptionKey(hashlib.sha256(secret).hexdigest()[:8], secret)


def seal(text: str, *, place: SealedPlace) -> str:
    """Encrypts a text with the newest key."""
    key = _keys()[0]
    nonce = os.urandom(NONCE_BYTES)
    sealed = nonce + AESGCM(key.secret).encrypt(nonce, text.encode(), bytes(place))
    return f"{key.id}:{base64.urlsafe_b64encode(sealed).decode('ascii')}"


def key_id_of(sealed: str) -> str:
    """The short name of the key that sealed a text."""
    return sealed.partition(":")[0]


def newest_key_id() -> str:
    """The short name of the key that seals."""
    return _keys()[0].id


def older_key_ids() -> tuple[str, ...]:
    """The short names of the keys that only open."""
    return tuple(key.id for key in _keys()[1:])


def unseal(sealed: str, *, place: SealedPlace) -> str:
    """Decrypts a text with the key that sealed it.

    Raises:
        ConfigurationError: That key is gone, or the text was changed or belongs elsewhere.
    """
    key_id, _, body = sealed.partition(":")
    key = next((key for key in _keys() if key.id == key_id), None)
    if key is None:
        raise ConfigurationError(
            f"The encryption key {key_id!r} is not among COPILOT_ENCRYPTION_KEYS. Add it again, "
            "or enter the secret anew."
        )
    try:
        raw = base64.urlsafe_b64decode(body)
        opened = AESGCM(key.secret).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], bytes(place))
    except (InvalidTag, ValueError):
        raise ConfigurationError(
            "A stored secret cannot be opened: it was changed, or belongs to another row. "
            "Enter it anew."
        ) from None
    return opened.decode()


def _keys() -> tuple[EncryptionKey, ...]:
    keys: tuple[EncryptionKey, ...] = settings.ENCRYPTION_KEYS
    return keys
