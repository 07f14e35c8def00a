"""List of copilots: its columns and filters."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, cast

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db.models import Max, QuerySet, Sum
from django.db.models.functions import Lower
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.common.widgets import chip, format_time, icon
from copilot_admin.admin.copilots.header import image_url
from copilot_admin.admin.copilots.views import FOLDER, CopilotViews
from copilot_admin.copilots.names import known_tags, tagged
from copilot_admin.copilots.status import LABELS, CopilotState, status_of
from copilot_admin.models import Access, Conversation, Copilot, DailyTotal
from copilot_admin.models.conversations import PLAYGROUND
from copilot_admin.models.copilots import CopilotQuerySet


class CopilotList(ChangeList):
    """The list of copilots, sorted by name by default."""

    def get_ordering_field_columns(self) -> Any:
        """Return the sort columns; Django doesn't recognise expressions."""
        return super().get_ordering_field_columns() or {self.list_display.index("card"): "asc"}

    def get_results(self, request: HttpRequest) -> None:
        """Read the use of the page's copilots in two queries."""
        super().get_results(request)
        rows = list(self.result_list)
        ids = [row.pk for row in rows]
        asked = Conversation.objects.filter(copilot__in=ids).exclude(
            principal__startswith=PLAYGROUND
        )
        last = dict(asked.order_by().values_list("copilot").annotate(Max("last_at")))
        since = timezone.now().date() - timedelta(days=29)
        used = DailyTotal.objects.filter(copilot__in=ids, day__gte=since).values_list("copilot")
        thumbs = {pk: (up, down) for pk, up, down in used.annotate(Sum("up"), Sum("down"))}
        rights = {
            "may_add": self.model_admin.has_add_permission(request),
            "may_change": self.model_admin.has_change_permission(request),
        }
        for row in rows:
            row.last_asked_at, row.thumbs = last.get(row.pk), thumbs.get(row.pk, (0, 0))
            row.rights = rights
        self.result_list = rows


class ListColumns(CopilotViews):
    """Columns of the list; their rows come from `CopilotList`."""

    @admin.display(description=gettext_lazy("Copilot"), ordering=Lower("name"))
    def card(self, copilot: Copilot) -> SafeString:
        context = {
            "copilot": copilot,
            "url": self.url_of("change", copilot),
            "image": image_url(copilot),
        }
        return render_to_string(f"{FOLDER}/list_card.html", context)

    @admin.display(description=gettext_lazy("State"))
    def state(self, copilot: Copilot) -> SafeString:
        status = status_of(copilot)
        badge = chip(status.labels.label, status.labels.tone)
        return format_html('<span title="{}">{}</span>', status.sentence, badge)

    @admin.display(description=gettext_lazy("Access"), ordering="access")
    def who_may_ask(self, copilot: Copilot) -> str:
        return _("Open") if copilot.access == Access.OPEN else _("API key")

    @admin.display(description=gettext_lazy("Last question"))
    def last_question(self, copilot: Any) -> SafeString | str:
        return format_time(copilot.last_asked_at, "short")

    @admin.display(description=gettext_lazy("Thumbs (30 days)"))
    def thumbs(self, copilot: Any) -> SafeString | str:
        up, down = copilot.thumbs
        if not up and not down:
            return ""
        return format_html("{} {} {} {}", icon("thumb-up"), up, icon("thumb-down"), down)

    @admin.display(description="")
    def menu(self, copilot: Any) -> SafeString:
        """Return the menu of a row; its buttons belong to the form at the end of the page."""
        context = {"copilot": copilot, **copilot.rights}
        return render_to_string(f"{FOLDER}/row_menu.html", context)


class StateFilter(admin.SimpleListFilter):
    """Filter by state; archived copilots are hidden by default.

    The state is computed for each copilot; a server has some hundreds, which takes milliseconds.
    """

    title = gettext_lazy("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        states = sorted(LABELS, key=lambda state: state is CopilotState.ARCHIVED)
        return [(state.value, str(LABELS[state].label)) for state in states]

    def choices(self, changelist: ChangeList) -> Iterator[Any]:
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
    title = gettext_lazy("tag")
    parameter_name = "tag"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, str]]:
        in_archive = request.GET.get(StateFilter.parameter_name) == CopilotState.ARCHIVED
        rows = reachable(request.user).filter(archived_at__isnull=not in_archive)
        return [(tag, tag) for tag in known_tags(rows)]

    def queryset(self, request: HttpRequest, queryset: Any) -> QuerySet[Copilot] | None:
        wanted = self.value()
        return None if wanted is None else tagged(cast(CopilotQuerySet, queryset), wanted)
