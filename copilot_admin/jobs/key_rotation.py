"""Key rotation: encrypt stored secrets under the newest key, one after the other.

An encrypted text begins with the id of its key, so an interrupted rotation continues where it was.
"""

from collections import Counter
from dataclasses import dataclass, field

from allauth.mfa.models import Authenticator

from copilot_admin.accounts.second_factor import SECRETS
from copilot_admin.config.encryption import current_key_id, decrypt, encrypt, key_id_of
from copilot_admin.copilots.providers import ENCRYPTED_COLUMNS, EncryptedColumn
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
            if key_id_of(text) != current_key_id():
                _rotate(column, row, text, result)
        result.in_use.update(map(key_id_of, stored.values_list(column.column, flat=True)))
    _rotate_second_factors(result)
    return result


def _rotate(column: EncryptedColumn, row: object, text: str, result: RotationResult) -> None:
    location = column.place(row)
    try:
        encrypted = encrypt(decrypt(text, location=location), location=location)
    except ConfigurationError as error:
        result.errors.append(f"{column.label} ({column.model} {row}): {error.public}")
        return
    # A secret that was entered in the meantime isn't overwritten.
    unchanged = column.rows._default_manager.filter(**{"pk": row, column.column: text})
    result.rotated += unchanged.update(**{column.column: encrypted})


def _rotate_second_factors(result: RotationResult) -> None:
    """Encrypt secrets of second factors again; they are texts in a JSON column."""
    for factor in Authenticator.objects.exclude(type=Authenticator.Type.WEBAUTHN).iterator():
        name = "secret" if factor.type == Authenticator.Type.TOTP else "seed"
        text = factor.data[name]
        if key_id_of(text) != current_key_id():
            try:
                text = encrypt(decrypt(text, location=SECRETS), location=SECRETS)
            except ConfigurationError as error:
                words = f"second factor of an account ({factor.user_id})"
                result.errors.append(f"{words}: {error.public}")
            else:
                factor.data[name] = text
                factor.save(update_fields=["data"])
                result.rotated += 1
        result.in_use[key_id_of(text)] += 1
