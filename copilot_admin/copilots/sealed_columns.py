"""Every column that holds sealed secrets: what a rotation of keys seals anew."""

from dataclasses import dataclass

from django.apps import apps
from django.db.models import Model

from copilot_admin.config.encryption import SecretLocation


@dataclass(frozen=True, slots=True)
class SealedColumn:
    """A column of sealed texts; an empty text is no secret.

    Attributes:
        model: The name of its model.
        column: The name of the field.
        table: Under this name each text is bound to its row; it never changes.
        field: The same for the field.
        words: What one of them is, for people: "key of a provider".
    """

    model: str
    column: str
    table: str
    field: str
    words: str

    def place(self, row: object) -> SecretLocation:
        """Where the secret of a row belongs."""
        return SecretLocation(table=self.table, row=str(row), field=self.field)

    @property
    def rows(self) -> type[Model]:
        """The model whose rows have the column."""
        return apps.get_model("copilot_admin", self.model)


PROVIDER_KEYS = SealedColumn(
    model="Provider",
    column="api_key_cipher",
    table="provider",
    field="api_key",
    words="key of a provider",
)
PROVIDER_HEADERS = SealedColumn(
    model="Provider",
    column="headers_cipher",
    table="provider",
    field="headers",
    words="request headers of a provider",
)
WEBHOOK_SECRETS = SealedColumn(
    model="AlertWebhook",
    column="secret_cipher",
    table="alertwebhook",
    field="secret",
    words="secret of a webhook",
)
# A column of sealed texts is a row here; a test looks for those that are not.
SEALED_COLUMNS = (PROVIDER_KEYS, PROVIDER_HEADERS, WEBHOOK_SECRETS)
