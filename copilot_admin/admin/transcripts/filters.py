"""Filters of the transcript list; their choices come from small tables, never from the log."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db.models import F, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import Conversation, Copilot, Mark, ReviewState
from copilot_admin.models.transcripts import PLAYGROUND
from copilot_admin.review.verdicts import labels

if TYPE_CHECKING:
    from django.contrib.admin.views.main import ChangeList

MOST_COPILOTS = 1000  # a page of their names; the field above them finds one


class CopilotFilter(admin.SimpleListFilter):
    """Conversations with one copilot."""

    title = _("copilot")
    parameter_name = "copilot"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, str]]:
        """All copilots, used or not, the archive last: asking the log would read all of it."""
        rows = Copilot.objects.order_by(F("archived_at").asc(nulls_first=True), "name")
        found = rows.values_list("pk", "name", "archived_at")[:MOST_COPILOTS]
        archived = gettext("%(name)s (archived)")
        return [
            (str(pk), archived % {"name": name} if archived_at else name)
            for pk, name, archived_at in found
        ]

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


class TrialFilter(admin.SimpleListFilter):
    """What builders asked drafts in the playground: left out unless it is asked for."""

    title = _("playground")
    parameter_name = "playground"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, Any]]:
        """The ways to see them."""
        return [("with", _("Shown as well")), ("only", _("Alone"))]

    def choices(self, changelist: "ChangeList") -> Iterator[Any]:
        """The usual choices; the first of them says what it means here."""
        first, *others = super().choices(changelist)
        yield {**first, "display": _("Left out")}
        yield from others

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Conversation]
    ) -> QuerySet[Conversation]:
        """The conversations of callers, those of the playground, or both."""
        match self.value():
            case "with":
                return queryset
            case "only":
                return queryset.filter(principal__startswith=PLAYGROUND)
        return queryset.exclude(principal__startswith=PLAYGROUND)


class StateFilter(admin.SimpleListFilter):
    """Conversations whose review has come so far."""

    title = _("review")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, Any]]:
        """The states."""
        return ReviewState.choices

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Conversation]
    ) -> QuerySet[Conversation] | None:
        """Those in the chosen state."""
        wanted = self.value()
        return None if wanted is None else queryset.filter(review_state=wanted)


class LabelFilter(admin.SimpleListFilter):
    """Conversations to which a reviewer gave a label, or to a turn of them."""

    title = _("label")
    parameter_name = "label"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, Any]]:
        """The team's labels, also those that are retired."""
        return [(str(label.pk), label.name) for label in labels()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[Conversation]
    ) -> QuerySet[Conversation] | None:
        """Those with the chosen label; verdicts are few, so the search begins with them."""
        wanted = self.value()
        if wanted is None:
            return None
        if not (wanted.isascii() and wanted.isdecimal() and len(wanted) <= 18):
            return queryset.none()
        labelled = Mark.objects.filter(criterion=int(wanted)).order_by()
        return queryset.filter(pk__in=labelled.values("verdict__conversation"))
