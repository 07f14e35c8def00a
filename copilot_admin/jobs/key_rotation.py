"""Key rotation: encrypt stored secrets under the newest key, one after the other.

An encrypted text begins with the id of its key, so an interrupted rotation continues where it was.
"""

from collections import Counter
from dataclasses import dataclass, field

from allauth.mfa.models import Authenticator

from copilot_admin.accounts.second_factor import SECRETS
from copilot_admin.config.encryption import (
    SecretLocation,
    current_key_id,
    decrypt,
    encrypt,
    key_id_of,
)
from copilot_admin.copilots.providers import ENCRYPTED_COLUMNS
from copilot_admin.errors import ConfigurationError


@dataclass(slots=True)
class RotationResult:
    rotated: int = 0  # texts encrypted again
    in_use: Counter[str] = field(default_factory=Counter)  # texts that each key encrypts now
    errors: list[str] = field(default_factory=list)  # texts that can't be decrypted


def rotate_keys() -> RotationResult:
    result = RotationResult()
    for column in ENCRYPTED_COLUMNS:
        stored = column.rows._default_manager.exclude(**{column.column: ""}).order_by("pk")
        for row, text in list(stored.values_list("pk", column.column)):
            name = f"{column.label} ({column.model} {row})"
            if encrypted := _reencrypt(text, column.place(row), name, result):
                # A secret that was entered in the meantime isn't overwritten.
                unchanged = stored.filter(**{"pk": row, column.column: text})
                result.rotated += unchanged.update(**{column.column: encrypted})
        result.in_use.update(map(key_id_of, stored.values_list(column.column, flat=True)))
    # Secrets of second factors are texts in a JSON column.
    for factor in Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN).iterator():
        key = "secret" if factor.type == Authenticator.Type.TOTP else "seed"
        name = f"second factor of an account ({factor.user_id})"
        if encrypted := _reencrypt(factor.data[key], SECRETS, name, result):
            factor.data[key] = encrypted
            factor.save(update_fields=["data"])
            result.rotated += 1
        result.in_use[key_id_of(factor.data[key])] += 1
    return result


def _reencrypt(
    text: str, location: SecretLocation, name: str, result: RotationResult
) -> str | None:
    """Return a secret under the newest key; None if it has that already, or can't be decrypted."""
    if key_id_of(text) == current_key_id():
        return None
    try:
        return encrypt(decrypt(text, location=location), location=location)
    except ConfigurationError as error:
        result.errors.append(f"{name}: {error.public}")
        return None
