"""Exports of conversations in the admin: started from a list, downloaded, stopped, deleted."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import ADDITION, LogEntry
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseRedirect,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.admin.common.base import ReadOnlyAdmin, number_in, post_only
from copilot_admin.admin.site.site import site
from copilot_admin.admin.transcripts.list_page import reject_unknown
from copilot_admin.admin.transcripts.pages import LIST
from copilot_admin.audit.recording import hide_personal_filters
from copilot_admin.errors import ConfigurationError
from copilot_admin.jobs.export_tasks import export_in_background
from copilot_admin.models import Action, TranscriptExport
from copilot_admin.transcripts.access import VIEW
from copilot_admin.transcripts.exports.formats import FORMATS
from copilot_admin.transcripts.exports.reading import ExportOptions
from copilot_admin.transcripts.exports.writing import (
    RETENTION,
    describe_query,
    discard_export,
    file_name,
    freeze_query,
    read_file,
    read_selection,
    stop_export,
)
from copilot_admin.transcripts.filters import FILTERS
from copilot_admin.transcripts.search.list_query import SEARCH_PARAMETER, read_query

FOLDER = "admin/copilot_admin/transcriptexport"
EXPORT = "copilot_admin.export_conversation"
PROMPTS = "copilot_admin.view_copilot"
MAX_COUNT = 10_000  # conversations that are counted before an export begins
COUNT_SECONDS = 1.0


class ExportForm(forms.Form):
    format = forms.ChoiceField(
        label=gettext_lazy("Format"),
        choices=lambda: [(name, f"{one.label}: {one.help}") for name, one in FORMATS.items()],
        initial="csv",
        widget=forms.RadioSelect,
    )
    with_data = forms.BooleanField(
        label=gettext_lazy("Include data"),
        required=False,
        help_text=gettext_lazy(
            "Widget data, tool results, tables and charts. Not available for CSV."
        ),
    )
    with_prompts = forms.BooleanField(
        label=gettext_lazy("Include system prompts"),
        required=False,
        help_text=gettext_lazy("The prompt of the version that answered. JSONL only."),
    )

    def __init__(self, *args: Any, with_prompts: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not with_prompts:
            del self.fields["with_prompts"]
        self.fields[LIST] = forms.CharField(required=False, widget=forms.HiddenInput)


@admin.register(TranscriptExport, site=site)
class ExportAdmin(ReadOnlyAdmin[TranscriptExport]):
    list_display = ("what", "filter", "state", "n_conversations", "owner", "made_at")
    row_views = ("state", "file", "stop", "discard")
    list_select_related = ("owner",)
    actions = None
    empty_state: str | Promise = gettext_lazy(
        "No exports yet. Filter the conversations, then choose Export."
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[TranscriptExport]:
        rows = TranscriptExport.objects.unexpired().select_related("owner").order_by("-id")
        return rows if request.user.is_superuser else rows.filter(owner=request.user.pk)

    @admin.display(description=gettext_lazy("File"))
    def what(self, export: TranscriptExport) -> str:
        return file_name(export)

    @admin.display(description=gettext_lazy("Filter"))
    def filter(self, export: TranscriptExport) -> str:
        return export.words

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        filters = (request.POST or request.GET).get(LIST, "")
        if rejected := reject_unknown(request, read_query(filters)):
            return rejected
        sent = request.POST if request.method == "POST" else None
        form = ExportForm(
            sent, initial={LIST: filters}, with_prompts=request.user.has_perm(PROMPTS)
        )
        given = read_query(filters)
        query = freeze_query(given)
        listed = read_selection(query)
        if form.is_valid() and not listed.filters.errors:
            try:
                return self.redirect_to(self._start(request, form, given))
            except ConfigurationError as error:
                messages.error(request, error.public)
        number = listed.count(MAX_COUNT, seconds=COUNT_SECONDS)
        context = {
            **self.page_context(request, _("Export conversations")),
            "form": form,
            "filters": filters,
            "words": describe_query(query),
            "number": min(number, MAX_COUNT) if number else number,
            "is_more": number is not None and number > MAX_COUNT,
            "unknown": [FILTERS[name].label for name in listed.filters.errors],
            "days": RETENTION.days,
        }
        return TemplateResponse(request, f"{FOLDER}/add.html", context)

    def _start(
        self, request: HttpRequest, form: ExportForm, given: dict[str, str]
    ) -> TranscriptExport:
        user_id = int(request.user.pk or 0)
        wanted = form.cleaned_data
        options = ExportOptions(
            with_data=wanted["with_data"], with_prompts=wanted.get("with_prompts", False)
        )
        filters = {k: v for k, v in given.items() if k != SEARCH_PARAMETER}
        with transaction.atomic():
            export = export_in_background(
                user_id, given=given, name=wanted["format"], options=options
            )
            LogEntry.objects.log_actions(user_id, [export], ADDITION, file_name(export))
            facts = {
                "format": export.format,
                "with_data": export.with_data,
                "with_prompts": export.with_prompts,
                "filters": hide_personal_filters(filters),
                "searched_characters": len(given.get(SEARCH_PARAMETER, "")),
            }
            self.audit(request, Action.EXPORTED, export, after=facts)
        return export

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        export = self._export(request, object_id)
        context = {**self.page_context(request, file_name(export)), **_facts(export)}
        return TemplateResponse(request, f"{FOLDER}/export.html", context)

    def state_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        return render(request, f"{FOLDER}/progress.html", _facts(self._export(request, str(pk))))

    def file_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        export = self._export(request, str(pk))
        if not export.is_done:
            raise Http404
        if export.with_prompts and not request.user.has_perm(PROMPTS):
            raise PermissionDenied
        facts = {"conversations": export.n_conversations, "bytes": export.size}
        self.audit(request, Action.DOWNLOADED, export, after=facts)
        response = StreamingHttpResponse(
            read_file(export), content_type=FORMATS[export.format].media_type
        )
        response["Content-Disposition"] = f'attachment; filename="{file_name(export)}"'
        response["Content-Length"] = str(export.size)  # a download that breaks off is noticed
        response["X-Content-Type-Options"] = "nosniff"
        response["Cache-Control"] = "no-store, no-transform"
        return response

    @post_only
    def stop_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        export = self._export(request, str(pk))
        if stop_export(export):
            self.audit(request, Action.STOPPED, export)
            messages.success(request, _("Export stopped."))
        else:
            messages.info(request, _("The export had already finished."))
        return self.redirect_to(export)

    @post_only
    def discard_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        export = self._export(request, str(pk))
        self.audit(request, Action.DELETED, export)
        discard_export(export)
        messages.success(request, _("Export deleted."))
        return HttpResponseRedirect(reverse("admin:copilot_admin_transcriptexport_changelist"))

    def has_view_permission(
        self, request: HttpRequest, obj: TranscriptExport | None = None
    ) -> bool:
        return request.user.has_perm(VIEW) and request.user.has_perm(EXPORT)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def _export(self, request: HttpRequest, pk: str) -> TranscriptExport:
        """Return an export of this user."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return get_object_or_404(self.get_queryset(request), pk=number_in(pk))


def _facts(export: TranscriptExport) -> dict[str, Any]:
    form = FORMATS.get(export.format)
    return {"export": export, "format": form.label if form else export.format}
