"""Key rotation: encrypt stored secrets under the newest key, a few rows at a time.

An encrypted text begins with the id of its key, so an interrupted rotation continues where it was.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from allauth.mfa.models import Authenticator
from django.db import transaction
from django.db.models import Model, QuerySet

from copilot_admin.accounts.second_factor import SECRETS
from copilot_admin.config.encryption import current_key_id, decrypt, encrypt, key_id_of
from copilot_admin.copilots.encrypted_columns import ENCRYPTED_COLUMNS, EncryptedColumn
from copilot_admin.errors import ConfigurationError

BATCH_ROWS = 100  # in one transaction; encrypting a row takes microseconds


@dataclass(slots=True)
class RotationResult:
    rotated: int = 0  # texts encrypted again
    in_use: Counter[str] = field(default_factory=Counter)  # texts that each key encrypts now
    errors: list[str] = field(default_factory=list)  # texts that can't be decrypted


def rotate_keys() -> RotationResult:
    result = RotationResult()
    for column in ENCRYPTED_COLUMNS:
        for batch in _get_batches(column):
            with transaction.atomic():
                for row, text in batch:
                    _rotate(column, row, text, result)
        texts = _get_secrets(column).values_list(column.column, flat=True)
        result.in_use.update(map(key_id_of, texts))
    _rotate_second_factors(result)
    return result


def _get_batches(column: EncryptedColumn) -> Iterator[list[tuple[object, str]]]:
    old = _get_secrets(column).exclude(**{f"{column.column}__startswith": f"{current_key_id()}:"})
    rows = old.order_by("pk").values_list("pk", column.column)
    batch = list(rows[:BATCH_ROWS])
    while batch:
        yield batch
        batch = list(rows.filter(pk__gt=batch[-1][0])[:BATCH_ROWS])


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


def _get_secrets(column: EncryptedColumn) -> QuerySet[Model]:
    return column.rows._default_manager.exclude(**{column.column: ""})


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
