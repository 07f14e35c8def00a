"""Encryption of stored secrets, so that a stolen database or backup doesn't reveal them.

AES-256-GCM with a random 96-bit nonce (NIST SP 800-38D, 8.2.2). A ciphertext is
`<key id>:<base64 of nonce and ciphertext>` and is bound to its row: it can't be decrypted elsewhere.
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
MIN_DISTINCT_BYTES = 16  # 32 random bytes have about 30 distinct ones, a typed pattern has fewer


@dataclass(frozen=True, slots=True)
class EncryptionKey:
    """A key and the short id by which ciphertexts refer to it."""

    id: str
    secret: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class SecretLocation:
    """The column that a ciphertext is bound to."""

    table: str
    row: str
    field: str

    def __bytes__(self) -> bytes:
        return "\x1f".join((self.table, self.row, self.field)).encode()


def create_key() -> str:
    """Return a new key for `COPILOT_ENCRYPTION_KEYS`."""
    return base64.urlsafe_b64encode(os.urandom(KEY_BYTES)).decode("ascii")


def parse_key(text: str) -> EncryptionKey:
    try:
        secret = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        secret = b""
    if len(secret) != KEY_BYTES or len(set(secret)) < MIN_DISTINCT_BYTES:
        raise ValueError("use 32 random bytes in URL-safe base64 for each key")
    return EncryptionKey(hashlib.sha256(secret).hexdigest()[:8], secret)


def encrypt(text: str, *, location: SecretLocation) -> str:
    key = _keys()[0]
    nonce = os.urandom(NONCE_BYTES)
    ciphertext = nonce + AESGCM(key.secret).encrypt(nonce, text.encode(), bytes(location))
    return f"{key.id}:{base64.urlsafe_b64encode(ciphertext).decode('ascii')}"


def decrypt(ciphertext: str, *, location: SecretLocation) -> str:
    """Decrypt a text with the key that encrypted it; raise ConfigurationError if that fails."""
    key_id, _, body = ciphertext.partition(":")
    key = next((key for key in _keys() if key.id == key_id), None)
    if key is None:
        raise ConfigurationError(
            f"The encryption key {key_id!r} is not among COPILOT_ENCRYPTION_KEYS. "
            "Add it again, or enter the secret again."
        )
    try:
        raw = base64.urlsafe_b64decode(body)
        text = AESGCM(key.secret).decrypt(raw[:NONCE_BYTES], raw[NONCE_BYTES:], bytes(location))
    except (InvalidTag, ValueError):
        raise ConfigurationError(
            "A stored secret can't be decrypted: it was changed, or belongs to another row. "
            "Enter it again."
        ) from None
    return text.decode()


def key_id_of(ciphertext: str) -> str:
    return ciphertext.partition(":")[0]


def current_key_id() -> str:
    return _keys()[0].id


def older_key_ids() -> tuple[str, ...]:
    return tuple(key.id for key in _keys()[1:])


def _keys() -> tuple[EncryptionKey, ...]:
    keys: tuple[EncryptionKey, ...] = settings.ENCRYPTION_KEYS
    return keys
