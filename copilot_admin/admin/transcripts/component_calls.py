"""Calls of components over HTTP: a list, and a page for each; nothing can be changed."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.functional import Promise, cached_property
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.base import ReadOnlyAdmin
from copilot_admin.admin.site.site import site
from copilot_admin.admin.transcripts.cells import when_cell
from copilot_admin.agent.components.registry import registry
from copilot_admin.audit.parties import MAX_ID_LENGTH, Actor, Subject
from copilot_admin.audit.recording import record_read
from copilot_admin.models import Action, CallStatus, ComponentCall
from copilot_admin.rendering.text import duration, pretty_json

COUNTED = 5_000  # of the newest; older ones are found by a filter
TONES: Mapping[str, str] = {
    CallStatus.DONE: "good",
    CallStatus.REFUSED: "warn",
    CallStatus.FAILED: "bad",
    CallStatus.CANCELLED: "muted",
}


class NewestPages(Paginator):  # type: ignore[type-arg]  # generic in the stubs only
    """Pages of the newest rows: to count all of a long log takes a second."""

    @cached_property
    def count(self) -> int:
        """How many calls there are, counted no further than the pages go."""
        rows: Any = self.object_list
        return int(rows.order_by()[:COUNTED].count())


class ComponentFilter(admin.SimpleListFilter):
    """Calls of one component."""

    title = gettext_lazy("component")
    parameter_name = "component"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, str]]:
        return [(name, name) for name in registry().names()]

    def queryset(
        self, request: HttpRequest, queryset: QuerySet[ComponentCall]
    ) -> QuerySet[ComponentCall] | None:
        wanted = self.value()
        return None if wanted is None else queryset.filter(component=wanted)


@admin.register(ComponentCall, site=site)
class ComponentCallAdmin(ReadOnlyAdmin[ComponentCall]):
    """Calls are read here, and changed nowhere."""

    list_display = ("called", "pin", "state", "took", "events", "key", "user", "copilot")
    list_filter = (ComponentFilter, "status", "created_at")
    list_select_related = ("key", "user", "copilot")
    list_per_page = 50
    search_fields = ("=trace_id", "=request_id", "=user__identifier")
    search_help_text = gettext_lazy("A whole trace id, request id or id of a user")
    show_facets = admin.ShowFacets.NEVER
    show_full_result_count = False
    paginator = NewestPages
    sortable_by = ()
    actions = None
    empty_state: str | Promise = gettext_lazy(
        "Nobody has called a component over HTTP yet. POST /v2/components/calculator does."
    )
    fields = (
        "pin",
        "action",
        "state",
        "error",
        "called",
        "took",
        "events",
        "key",
        "user",
        "copilot",
        "trace_id",
        "request_id",
        "arguments_text",
        "usage_text",
    )
    readonly_fields = fields

    @admin.display(description=gettext_lazy("Called"))
    def called(self, call: ComponentCall) -> SafeString:
        """The moment at which the call began."""
        return when_cell(call.created_at)

    @admin.display(description=gettext_lazy("Component"))
    def pin(self, call: ComponentCall) -> str:
        """Name and version, as people write them."""
        return f"{call.component}@{call.version}"

    @admin.display(description=gettext_lazy("Status"))
    def state(self, call: ComponentCall) -> SafeString:
        """How the call ended, as a badge."""
        badge = {"label": call.get_status_display(), "tone": TONES.get(call.status, "muted")}
        return render_to_string("admin/includes/badge.html", badge)

    @admin.display(description=gettext_lazy("Took"))
    def took(self, call: ComponentCall) -> str:
        """How long the call took."""
        return duration(call.ms)

    @admin.display(description=gettext_lazy("Arguments"))
    def arguments_text(self, call: ComponentCall) -> str | SafeString:
        """What was sent, without secrets."""
        if call.arguments is None:
            return _("Not kept: the copilot logs no content.")
        return _block(call.arguments)

    @admin.display(description=gettext_lazy("Tokens"))
    def usage_text(self, call: ComponentCall) -> str | SafeString:
        """What the models that it asked have counted."""
        return _block(call.usage) if call.usage else _("It asked no model.")

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        response = super().change_view(request, object_id, *args, **kwargs)
        on = Subject("componentcall", object_id[:MAX_ID_LENGTH])
        if response.status_code == HTTPStatus.OK:
            record_read(Action.READ, by=Actor.of(request), on=on)
        return response


def _block(value: Any) -> SafeString:
    text = value if isinstance(value, str) else pretty_json(value)
    return format_html('<pre class="ca-pre" dir="ltr" tabindex="0">{}</pre>', text)
