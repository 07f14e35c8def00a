"""The filter of the copilot list by state."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from copilot_admin.copilots.drafts import standing_of
from copilot_admin.copilots.standing import WORDS
from copilot_admin.models import Copilot


class StateFilter(admin.SimpleListFilter):
    """A filter of the list by state: live, changed, draft, broken or off.

    Whether a copilot is broken or changed is no column: it is asked of each. A server has some
    dozens of copilots, so this stays a matter of milliseconds.
    """

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        """The states in words."""
        return [(state.value, str(words.label)) for state, words in WORDS.items()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Copilot]
    ) -> QuerySet[Copilot] | None:
        """The copilots in the chosen state."""
        wanted = self.value()
        if wanted is None:
            return None
        rows = queryset.select_related("provider", "live", "live__provider")
        return queryset.filter(pk__in=[row.pk for row in rows if standing_of(row).state == wanted])
