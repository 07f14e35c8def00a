"""Filters of the transcript list; their choices come from small tables, never from the log."""

from collections.abc import Iterable
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import Conversation, Copilot

MOST_COPILOTS = 200


class CopilotFilter(admin.SimpleListFilter):
    """Conversations with one copilot."""

    title = _("copilot")
    parameter_name = "copilot"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, str]]:
        """All copilots, used or not: asking the log which were used would read all of it."""
        rows = Copilot.objects.order_by("name").values_list("pk", "name")[:MOST_COPILOTS]
        return [(str(pk), name) for pk, name in rows]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Conversation]
    ) -> QuerySet[Conversation] | None:
        """The conversations with the chosen one."""
        wanted = self.value()
        if wanted is None:
            return None
        return queryset.filter(copilot_id=int(wanted)) if wanted.isdecimal() else queryset.none()


class JudgedFilter(admin.SimpleListFilter):
    """Conversations with an answer that a user judged."""

    title = _("feedback")
    parameter_name = "judged"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, Any]]:
        """The judgements to choose from: thumbs down first, which is what reviewers look for."""
        return [("down", _("Thumbs down")), ("up", _("Thumbs up"))]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Conversation]
    ) -> QuerySet[Conversation] | None:
        """Those with a judgement of the chosen kind."""
        match self.value():
            case "down":
                return queryset.filter(n_down__gt=0)
            case "up":
                return queryset.filter(n_up__gt=0)
        return None
