"""Filters of the list of copilots."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.members import reachable
from copilot_admin.copilots.status import LABELS, CopilotState, status_of
from copilot_admin.copilots.tags import known_tags, tagged
from copilot_admin.models import Copilot

if TYPE_CHECKING:
    from django.contrib.admin.views.main import ChangeList

    from copilot_admin.models.copilots import CopilotQuerySet


class StateFilter(admin.SimpleListFilter):
    """Filter by state; archived copilots are hidden by default.

    The state is computed for each copilot; a server has some hundreds, which takes milliseconds.
    """

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        states = [state for state in LABELS if state is not CopilotState.ARCHIVED]
        return [
            (state.value, str(LABELS[state].label)) for state in (*states, CopilotState.ARCHIVED)
        ]

    def choices(self, changelist: "ChangeList") -> Iterator[Any]:
        first, *others = super().choices(changelist)
        yield {**first, "display": _("Not archived")}
        yield from others

    def queryset(self, request: HttpRequest, queryset: QuerySet[Copilot]) -> QuerySet[Copilot]:
        wanted = self.value()
        if wanted == CopilotState.ARCHIVED:
            return queryset.exclude(archived_at=None)
        in_use = queryset.filter(archived_at=None)
        if wanted is None:
            return in_use
        rows = in_use.select_related("provider", "live", "live__provider")
        return in_use.filter(pk__in=[row.pk for row in rows if status_of(row).state == wanted])


class TagFilter(admin.SimpleListFilter):
    title = _("tag")
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        in_archive = request.GET.get(StateFilter.parameter_name) == CopilotState.ARCHIVED
        rows = reachable(request.user).filter(archived_at__isnull=not in_archive)
        return [(tag, tag) for tag in known_tags(rows)]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Copilot]
    ) -> QuerySet[Copilot] | None:
        wanted = self.value()
        if wanted is None:
            return None
        return tagged(cast("CopilotQuerySet", queryset), wanted)
