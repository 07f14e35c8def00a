"""The audit log, read-only: list, entry and download."""

from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache, partial
import json
from typing import Any

from asgiref.sync import sync_to_async
from django.apps import apps
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, User
from django.core.exceptions import FieldDoesNotExist, PermissionDenied
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.functional import Promise
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from copilot_admin.admin.common.base import ReadOnlyAdmin
from copilot_admin.admin.common.filters import CappedPaginator, DateRangeFilter, ParameterFilter
from copilot_admin.admin.common.widgets import chip, time_column
from copilot_admin.admin.site.site import site
from copilot_admin.audit.chain import has_valid_hash, iterate_batches, verification_keys
from copilot_admin.audit.forwarding import entry_values, format_json
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.evaluation.differences import MarkedChange, compare_texts
from copilot_admin.models.audit import Action, ActorKind, AuditEntry
from copilot_admin.rendering.tables import format_csv

FOLDER = "admin/copilot_admin/auditentry"
MAX_NAMES = 300
BOM = "\ufeff"  # spreadsheets need it to read UTF-8
MEDIA_TYPES = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl"}
APP = "copilot_admin"


class ListedFilter(ParameterFilter):
    def has_output(self) -> bool:
        return True


class PersonFilter(ListedFilter):
    title = _("user")
    parameter_name = "who"
    column = "actor_name"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        names = get_user_model()._default_manager.order_by("username")
        found = [user.get_username() for user in names[:MAX_NAMES]]
        chosen = self.value()
        return [(name, name) for name in dict.fromkeys([*found, *([chosen] if chosen else [])])]


class ActionFilter(ListedFilter):
    title = _("action")
    parameter_name = "action"
    column = "action"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return Action.choices


class KindFilter(ListedFilter):
    title = _("type")
    parameter_name = "kind"
    column = "subject_kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        return list_kinds(self.value() or "")


class SubjectFilter(ParameterFilter):
    title = _("ID")
    parameter_name = "subject"
    column = "subject_id"


class TimeFilter(DateRangeFilter):
    column = "at"


@admin.register(AuditEntry, site=site)
class AuditEntryAdmin(ReadOnlyAdmin[AuditEntry]):
    routes = {"file": "file/"}
    change_list_template = f"{FOLDER}/change_list.html"
    change_form_template = f"{FOLDER}/change_form.html"
    list_display = ("sequence", "time", "actor", "action_label", "subject", "address")
    columns = {"subject": "grow", "address": "wide"}
    list_filter = (PersonFilter, ActionFilter, KindFilter, SubjectFilter, TimeFilter)
    show_full_result_count = False
    paginator = CappedPaginator
    sortable_by = ()
    actions = None
    fields = ("time", "actor", "action_label", "subject", "address", "session", "agent", "hashes")
    readonly_fields = fields
    empty_icon = "book"
    empty_state = _("Every change and every read of private data is recorded here.")

    time = time_column("at", _("Time"))

    @admin.display(description=_("User"))
    def actor(self, entry: AuditEntry) -> str:
        label = entry.get_actor_kind_display()
        is_person = entry.actor_kind == ActorKind.PERSON
        return entry.actor_name if is_person else f"{entry.actor_name} ({label})".strip()

    @admin.display(description=_("Action"))
    def action_label(self, entry: AuditEntry) -> str:
        return str(dict(Action.choices).get(entry.action, entry.action))

    @admin.display(description=_("Subject"))
    def subject(self, entry: AuditEntry) -> str:
        words = f"{kind_label(entry.subject_kind)} {entry.subject_id}".strip()
        return f"{entry.subject_name} ({words})" if entry.subject_name else words

    @admin.display(description=_("Hash"))
    def hashes(self, entry: AuditEntry) -> SafeString:
        key = verification_keys().get(entry.key_id)
        correct = key is not None and has_valid_hash(entry, key)
        state = chip(_("Correct"), "good") if correct else chip(_("Wrong"), "bad")
        return SafeString(f"<code>{entry.hash}</code> {state}")

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        entry = self.get_object(request, object_id)
        if entry is not None and self.has_view_permission(request, entry):
            extra_context = {"changes": list_changes(entry), "url": find_url(request, entry)}
        return super().change_view(request, object_id, form_url, extra_context)

    @method_decorator(require_safe)
    def file_view(self, request: HttpRequest) -> HttpResponseBase:
        """Stream what the filters find as a file; the download is an entry itself."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        query = request.GET.copy()
        form = query.pop("format", [""])[-1]
        if form not in MEDIA_TYPES:
            raise Http404
        request.GET = query  # type: ignore[assignment]  # without the format, as the list reads it
        rows = self.get_changelist_instance(request).get_queryset(request)
        facts = {"format": form, "filters": query.dict()}
        record(Action.EXPORTED, by=Actor.of(request), on=Subject("auditentry"), after=facts)
        response = StreamingHttpResponse(stream_file(rows, form), content_type=MEDIA_TYPES[form])
        name = f"audit-{datetime.now(UTC):%Y-%m-%d}.{form}"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        return response

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """Reject the request: entries have no history."""
        raise PermissionDenied


COLUMNS = tuple(field.attname for field in AuditEntry._meta.concrete_fields)


async def stream_file(rows: QuerySet[AuditEntry], form: str) -> AsyncIterator[str]:
    """Yield the file in batches, so that it's never in memory as a whole."""
    yield BOM + format_csv([COLUMNS]) if form == "csv" else ""
    load_next = sync_to_async(partial(next, iterate_batches(of=rows), None))
    while batch := await load_next():
        if form == "jsonl":
            yield "".join(f"{format_json(one)}\n" for one in batch)
        else:
            entries = map(entry_values, batch)
            yield format_csv([str(one[name] or "") for name in COLUMNS] for one in entries)


# Subjects that are no rows
_PARTS: Mapping[str, str | Promise] = {
    "analytics": _("analytics"),
    "database": _("database"),
    "stored_secrets": _("stored secrets"),
}
# Fields that no row has, in entries of views and commands; others are shown by their name
_FACTS: Mapping[str, str | Promise] = {
    "live": _("live version"),
    "principal": _("caller"),
    "view": _("page"),
    "with_questions": _("with tests"),
    "words": _("search terms"),
    "work": _("job"),
}


def list_kinds(chosen: str) -> list[tuple[str, str]]:
    """Return the kinds in the log with their labels, and the chosen one."""
    kinds = {*find_kinds(), chosen} - {""}
    labels = ((kind, capfirst(kind_label(kind))) for kind in kinds)
    return sorted(labels, key=lambda one: one[1].casefold())


def find_kinds() -> Iterator[str]:
    """Yield the kinds in the log: one look into the index for each, however long the log is."""
    kinds = AuditEntry.objects.order_by("subject_kind").values_list("subject_kind", flat=True)
    kind = kinds.first()
    while kind is not None:
        yield kind
        kind = kinds.filter(subject_kind__gt=kind).first()


def kind_label(kind: str) -> str:
    model = _models().get(kind)
    return str(_PARTS.get(kind, kind) if model is None else model._meta.verbose_name)


def field_label(kind: str, name: str) -> str:
    """Return the label of a field; its readable name if it is unknown."""
    model = _models().get(kind)
    try:
        text = str(model._meta.get_field(name).verbose_name) if model else ""  # type: ignore[union-attr]
    except (FieldDoesNotExist, AttributeError):  # a relation from another model has no name
        text = ""
    text = text or str(_FACTS.get(name, name.replace("_", " ")))
    return capfirst(text)


@cache
def _models() -> Mapping[str, type[Model]]:
    models: list[type[Model]] = [*apps.get_app_config(APP).get_models(), User, Group]
    return {str(model._meta.model_name): model for model in models}


def list_changes(entry: AuditEntry) -> tuple[MarkedChange, ...]:
    before, after = json.loads(entry.before), json.loads(entry.after)
    names = [*before, *(one for one in after if one not in before)]
    texts = [(name, _text(before.get(name)), _text(after.get(name))) for name in names]
    return tuple(
        MarkedChange(label=field_label(entry.subject_kind, name), parts=compare_texts(was, now))
        for name, was, now in texts
        if was or now
    )


def find_url(request: HttpRequest, entry: AuditEntry) -> str:
    """Return the URL of the row, or "" if it is gone or the user may not see it."""
    models = {str(model._meta.model_name): model for model in site._registry}
    model = models.get(entry.subject_kind)
    if model is None or not entry.subject_id.isdecimal() or len(entry.subject_id) > 18:
        return ""
    page = site.get_model_admin(model)
    row = page.get_queryset(request).filter(pk=entry.subject_id).first()
    if row is None or not page.has_view_permission(request, row):
        return ""
    return reverse(f"admin:{model._meta.label_lower.replace('.', '_')}_change", args=[row.pk])


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, indent=2, ensure_ascii=False)
