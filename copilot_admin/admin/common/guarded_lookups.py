"""Lists of the admin whose address filters by nothing that is secret, and not by expressions.

Django lets an address filter a list by any field of its model. A filter such as
`?digest__startswith=a` tells whether a secret begins so, one letter after the other. SQLite has
Python look for a regular expression: `(a+)+$` holds the whole server for as long as it likes. And
it takes conditions a thousand deep at most: each word of a search is one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.db import DataError
from django.db.models import QuerySet
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin
    from django.contrib.admin.views.main import ChangeList

    _Admin = ModelAdmin[Any]
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
        "headers_cipher",
        "password",
        "secret_cipher",
        "session_data",
        "session_hash",
        "session_key",
    }
)

# What no list offers, and an address makes a fault of: SQLite has no `contains` for JSON, a range
# wants two values, and a year may be beyond all dates.
UNOFFERED = frozenset({"regex", "iregex", "contains", "contained_by", "range", "year", "iso_year"})
LONGEST_NUMBER = 18  # digits: 64 bits take them all
MOST_WORDS = 50  # of a search


class GuardedLookups(_Admin):
    """Refuses filters that reach a secret, also through other models, and what no list offers."""

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        path = lookup.split(LOOKUP_SEP)
        if not (SECRETS | UNOFFERED).isdisjoint(path) or (path[-1] == "in" and _is_beyond(value)):
            return False
        return super().lookup_allowed(lookup, value, request)  # type: ignore[arg-type]  # None is old

    def get_changelist_instance(self, request: HttpRequest) -> "ChangeList":
        """The list that an address describes.

        Raises:
            IncorrectLookupParameters: A number or a moment in it is beyond what a column takes, which the
                database says, or Python before it: Django leads to the list without filters.
        """
        try:
            return super().get_changelist_instance(request)
        except (OverflowError, DataError) as error:
            raise IncorrectLookupParameters from error

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        words = search_term.split()
        if len(words) > MOST_WORDS:
            search_term = " ".join(words[:MOST_WORDS])
            messages.warning(
                request,
                _("Only the first %(most)d words were searched for.") % {"most": MOST_WORDS},
            )
        return super().get_search_results(request, queryset, search_term)


def _is_beyond(value: str | Sequence[str]) -> bool:
    texts = [value] if isinstance(value, str) else value
    parts = (part.strip() for text in texts for part in text.split(","))
    return any(part.lstrip("+-").isdecimal() and len(part) > LONGEST_NUMBER for part in parts)
