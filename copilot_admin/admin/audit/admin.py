"""The audit trail in the admin: it is read, and changed nowhere."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from copilot_admin.admin.audit.download import MEDIA_TYPES, pieces, pieces_in_loop
from copilot_admin.admin.audit.entry import address_of, compared, is_right, names
from copilot_admin.admin.audit.filters import found, page_of, read_audit_filters
from copilot_admin.admin.audit.words import kind_words, kinds
from copilot_admin.admin.common.base import ReadOnlyAdmin
from copilot_admin.admin.site.site import site
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.models.audit import Action, ActorKind, AuditEntry

FOLDER = "admin/copilot_admin/auditentry"

read_only = method_decorator([require_safe, never_cache])


@admin.register(AuditEntry, site=site)
class AuditEntryAdmin(ReadOnlyAdmin[AuditEntry]):
    """The pages of entries; whoever takes them along is an entry himself."""

    actions = None

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        file = path("file/", wrap(self.file_view), name="copilot_admin_auditentry_file")
        return [file, *super().get_urls()]

    @read_only
    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        self._check(request)
        filters = read_audit_filters(request.GET.dict())
        page = page_of(found(filters), request.GET.dict(), filters.chosen)
        for entry in page.entries:
            entry.words = _words(entry.action)  # type: ignore[attr-defined]  # for the template
            entry.kind_words = kind_words(entry.subject_kind)  # type: ignore[attr-defined]  # likewise
        context = {
            **self.page_context(request, _("Audit trail")),
            "filters": filters,
            "page": page,
            "actions": Action.choices,
            "kinds": kinds(filters.kind),
            "names": names(),
            "query": urlencode(filters.chosen),
        }
        return TemplateResponse(request, f"{FOLDER}/list.html", context)

    @read_only
    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        self._check(request)
        is_number = object_id.isascii() and object_id.isdecimal() and len(object_id) <= 18
        entry = AuditEntry.objects.filter(pk=int(object_id)).first() if is_number else None
        if entry is None:
            raise Http404
        context = {
            **self.page_context(request, _("Entry %(number)d") % {"number": entry.sequence}),
            "entry": entry,
            "words": _words(entry.action),
            "actor_kind": _kind(entry),
            "kind_words": kind_words(entry.subject_kind),
            "changes": compared(entry),
            "is_right": is_right(entry),
            "address": address_of(request, entry),
        }
        return TemplateResponse(request, f"{FOLDER}/entry.html", context)

    @read_only
    def file_view(self, request: HttpRequest) -> HttpResponseBase:
        """What the filters find as a file; that it was taken along is an entry."""
        self._check(request)
        form = request.GET.get("format", "")
        if form not in MEDIA_TYPES:
            raise Http404
        filters = read_audit_filters(request.GET.dict())
        rows = found(filters)
        facts = {"format": form, "filters": filters.chosen}
        record(Action.EXPORTED, by=Actor.of(request), on=Subject("auditentry"), after=facts)
        in_loop = isinstance(request, ASGIRequest)
        response = StreamingHttpResponse(
            pieces_in_loop(rows, form) if in_loop else pieces(rows, form),
            content_type=MEDIA_TYPES[form],
        )
        name = f"audit-{datetime.now(UTC):%Y-%m-%d}.{form}"
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        response["X-Content-Type-Options"] = "nosniff"
        return response

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        """An entry has no history: it is one.

        Raises:
            PermissionDenied: Always.
        """
        raise PermissionDenied

    def _check(self, request: HttpRequest) -> None:
        if not self.has_view_permission(request):
            raise PermissionDenied


def _words(action: str) -> str:
    return str(Action(action).label) if action in Action.values else action


def _kind(entry: AuditEntry) -> str:
    kind = entry.actor_kind
    return str(ActorKind(kind).label) if kind in ActorKind.values else kind
