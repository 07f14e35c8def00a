"""Calls of components over HTTP: a list, and a page for each; nothing can be changed."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.base import ReadOnlyAdmin
from copilot_admin.admin.common.filters import CappedPaginator, DateRangeFilter
from copilot_admin.admin.common.widgets import chip, format_time
from copilot_admin.admin.site.site import site
from copilot_admin.agent.components.registry import registry
from copilot_admin.audit.recording import MAX_ID_LENGTH, Actor, Subject, record_read
from copilot_admin.models import Action, CallStatus, ComponentCall
from copilot_admin.rendering.text import duration, pretty_json

COUNTED = 5_000  # of the newest; older ones are found by a filter
TONES: Mapping[str, str] = {
    CallStatus.DONE: "good",
    CallStatus.REFUSED: "warn",
    CallStatus.FAILED: "bad",
    CallStatus.CANCELLED: "",
}


class TimeFilter(DateRangeFilter):
    column = "created_at"


class ComponentFilter(admin.SimpleListFilter):
    title = gettext_lazy("tool")
    parameter_name = "component"

    def lookups(self, request: HttpRequest, model_admin: object) -> Iterable[tuple[str, str]]:
        return [(name, name) for name in registry().names()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted = self.value()
        return queryset if wanted is None else queryset.filter(component=wanted)


@admin.register(ComponentCall, site=site)
class ComponentCallAdmin(ReadOnlyAdmin[ComponentCall]):
    """Calls of tools over HTTP; reading one is audited."""

    list_display = ("pin", "state", "took", "events", "key", "user", "copilot", "called")
    columns = {
        "pin": "grow",
        "took": "num",
        "events": "num wide",
        "key": "medium",
        "user": "wide",
        "copilot": "medium",
    }
    list_filter = (ComponentFilter, "status", TimeFilter)
    list_select_related = ("key", "user", "copilot")
    search_fields = ("=trace_id", "=request_id", "=user__identifier")
    search_help_text = gettext_lazy("Trace ID, request ID or user ID")
    show_full_result_count = False
    paginator = CappedPaginator
    sortable_by = ()
    actions = None
    empty_icon = "tool"
    empty_state = gettext_lazy(
        "Apps can call tools over HTTP, for example /v2/components/calculator."
    )
    fields = (
        *("pin", "action", "state", "error", "called", "took", "events", "key", "user"),
        *("copilot", "trace_id", "request_id", "arguments_text", "usage_text"),
    )
    readonly_fields = fields

    @admin.display(description=gettext_lazy("Called"))
    def called(self, call: ComponentCall) -> SafeString | str:
        return format_time(call.created_at, "short")

    @admin.display(description=gettext_lazy("Tool"))
    def pin(self, call: ComponentCall) -> str:
        return f"{call.component}@{call.version}"

    @admin.display(description=gettext_lazy("Status"))
    def state(self, call: ComponentCall) -> SafeString:
        return chip(call.get_status_display(), TONES.get(call.status, ""))

    @admin.display(description=gettext_lazy("Duration"))
    def took(self, call: ComponentCall) -> str:
        return duration(call.ms)

    @admin.display(description=gettext_lazy("Arguments"))
    def arguments_text(self, call: ComponentCall) -> str | SafeString:
        if call.arguments is None:
            return _("Not stored: the copilot logs no content.")
        return _block(call.arguments)

    @admin.display(description=gettext_lazy("Tokens"))
    def usage_text(self, call: ComponentCall) -> str | SafeString:
        return _block(call.usage) if call.usage else _("No model was called.")

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> Any:
        response = super().change_view(request, object_id, *args, **kwargs)
        on = Subject("componentcall", object_id[:MAX_ID_LENGTH])
        if response.status_code == HTTPStatus.OK:
            record_read(Action.READ, by=Actor.of(request), on=on)
        return response


def _block(value: Any) -> SafeString:
    text = value if isinstance(value, str) else pretty_json(value)
    return format_html('<pre class="ca-code" dir="ltr" tabindex="0">{}</pre>', text)
