"""Lists of the admin whose address filters by nothing that is secret.

Django lets an address filter a list by any field of its model. A filter such as
`?digest__startswith=a` tells whether a secret begins so, one letter after the other.
"""

from typing import TYPE_CHECKING, Any

from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest

if TYPE_CHECKING:
    from django.contrib.admin.options import BaseModelAdmin

    _Admin = BaseModelAdmin[Any]
else:
    _Admin = object

# Fields that hold ciphertexts, digests and hashes, of whichever model.
SECRETS = frozenset(
    {
        "api_key_cipher",
        "chain_hash",
        "client_hash",
        "digest",
        "hash",
        "password",
        "secret_cipher",
        "session_data",
        "session_hash",
        "session_key",
    }
)


class GuardedLookups(_Admin):
    """Refuses filters that reach a secret, also through other models."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Whether an address may filter by this path of fields."""
        if not SECRETS.isdisjoint(lookup.split(LOOKUP_SEP)):
            return False
        return super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]  # None is old
