"""Columns with encrypted secrets, which a rotation of keys encrypts again."""

from dataclasses import dataclass

from django.apps import apps
from django.db.models import Model

from copilot_admin.config.encryption import SecretLocation


@dataclass(frozen=True, slots=True)
class EncryptedColumn:
    """A column of encrypted texts; an empty text is no secret.

    Attributes:
        model: Name of the model.
        column: Name of the field: that of the secret, and "_cipher".
        label: Name of one secret for people.
    """

    model: str
    column: str
    label: str

    def place(self, row: object) -> SecretLocation:
        """Return the location to which the secret of a row is bound."""
        name = self.column.removesuffix("_cipher")
        return SecretLocation(table=self.model.lower(), row=str(row), field=name)

    @property
    def rows(self) -> type[Model]:
        return apps.get_model("copilot_admin", self.model)


PROVIDER_KEYS = EncryptedColumn("Provider", "api_key_cipher", "key of a provider")
PROVIDER_HEADERS = EncryptedColumn("Provider", "headers_cipher", "request headers of a provider")
WEBHOOK_SECRETS = EncryptedColumn("AlertWebhook", "secret_cipher", "secret of a webhook")
ENCRYPTED_COLUMNS = (PROVIDER_KEYS, PROVIDER_HEADERS, WEBHOOK_SECRETS)
