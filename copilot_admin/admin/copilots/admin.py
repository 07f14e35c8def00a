"""Copilots in the admin: the list and the editor."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db import transaction
from django.db.models import Max, QuerySet, Sum
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST

from copilot_admin.accounts.members import may_publish, reachable
from copilot_admin.admin.common.copilot_access import require_copilot_access_in
from copilot_admin.admin.common.html import chip, format_time, icon
from copilot_admin.admin.copilots import actions
from copilot_admin.admin.copilots.archive import ArchiveViews, deletion_of, revoke_keys_of
from copilot_admin.admin.copilots.build_page import build_page_context
from copilot_admin.admin.copilots.exports import ExportViews
from copilot_admin.admin.copilots.filters import StateFilter, TagFilter
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.admin.copilots.header import BUILD, build_copilot_header, image_url
from copilot_admin.admin.copilots.imports import CopilotImportViews
from copilot_admin.admin.copilots.members import MemberViews
from copilot_admin.admin.copilots.model_menu import ModelViews
from copilot_admin.admin.copilots.settings_page import SettingsViews
from copilot_admin.admin.copilots.tags import TagViews
from copilot_admin.admin.copilots.templates import TemplateViews
from copilot_admin.admin.copilots.versions import VersionViews
from copilot_admin.admin.evaluation.views import evaluation_urls
from copilot_admin.admin.site.site import site
from copilot_admin.copilots.publishing import problems
from copilot_admin.copilots.status import CopilotState, status_of
from copilot_admin.http.middleware import CSP_WITH_OWN_FRAMES
from copilot_admin.jobs.deletion import delete_in_background
from copilot_admin.models import Access, Conversation, Copilot, DailyTotal
from copilot_admin.models.conversations import PLAYGROUND

if TYPE_CHECKING:
    from copilot_admin.models.copilots import CopilotQuerySet

AUTOSAVE = "_autosave"  # in the form data of a save by the page itself
# Actions in the archive, next to deletion.
OF_THE_ARCHIVE = ("restore_chosen", "duplicate_chosen", "export_chosen")
# Users without the permission to change read the draft as text, not as read-only fields.
VIEW_ONLY = ["name"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CopilotRow:
    """Use of a copilot and rights of the user, for one row of the list."""

    last_question: datetime | None = None
    up: int = 0
    down: int = 0
    may_add: bool = False
    may_change: bool = False


def _row_of(copilot: Copilot) -> CopilotRow:
    found: CopilotRow = getattr(copilot, "list_row", CopilotRow())
    return found


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
        may_add = self.model_admin.has_add_permission(request)
        may_change = self.model_admin.has_change_permission(request)
        for row in rows:
            up, down = thumbs.get(row.pk, (0, 0))
            row.list_row = CopilotRow(
                last_question=last.get(row.pk),
                up=up,
                down=down,
                may_add=may_add,
                may_change=may_change,
            )
        self.result_list = rows


@admin.register(Copilot, site=site)
class CopilotAdmin(
    SettingsViews,
    ArchiveViews,
    TagViews,
    MemberViews,
    CopilotImportViews,
    ExportViews,
    TemplateViews,
    ModelViews,
    VersionViews,
):
    """The pages of copilots."""

    form: type[CopilotForm] = CopilotForm
    change_form_template = "admin/copilot_admin/copilot/change_form.html"
    change_list_template = "admin/copilot_admin/copilot/change_list.html"
    list_display = ("card", "state", "model", "who_may_ask", "last_question", "thumbs", "menu")
    list_display_links = None
    list_filter = (StateFilter, TagFilter, "access", "provider")
    list_select_related = ("provider", "live", "live__provider")
    list_per_page = 50
    search_fields = ("name", "slug", "description", "model")
    search_help_text = gettext_lazy("Name, slug, description or model")
    show_facets = admin.ShowFacets.NEVER  # counting states would ask each copilot once more
    ordering = (Lower("name"),)
    empty_state = gettext_lazy("No copilots yet. Start from a template or create one.")
    actions = [
        actions.publish_chosen,
        actions.duplicate_chosen,
        actions.enable_chosen,
        actions.disable_chosen,
        actions.tag_chosen,
        actions.export_chosen,
        actions.archive_chosen,
        actions.restore_chosen,
    ]

    @admin.display(description=gettext_lazy("Copilot"), ordering=Lower("name"))
    def card(self, copilot: Copilot) -> SafeString:
        """Image, name, slug and tags."""
        return render_to_string(
            "admin/copilot_admin/copilot/list_card.html",
            {"copilot": copilot, "url": self.change_url(copilot), "image": self.image_of(copilot)},
        )

    @admin.display(description=gettext_lazy("State"))
    def state(self, copilot: Copilot) -> SafeString:
        status = status_of(copilot)
        badge = chip(status.labels.label, status.labels.tone)
        return format_html('<span title="{}">{}</span>', status.sentence, badge)

    @admin.display(description=gettext_lazy("Access"), ordering="access")
    def who_may_ask(self, copilot: Copilot) -> str:
        return _("Open") if copilot.access == Access.OPEN else _("API key")

    @admin.display(description=gettext_lazy("Last question"))
    def last_question(self, copilot: Copilot) -> SafeString | str:
        return format_time(_row_of(copilot).last_question, "short")

    @admin.display(description=gettext_lazy("Thumbs (30 days)"))
    def thumbs(self, copilot: Copilot) -> SafeString | str:
        row = _row_of(copilot)
        if not row.up and not row.down:
            return ""
        return format_html("{} {} {} {}", icon("thumb-up"), row.up, icon("thumb-down"), row.down)

    @admin.display(description="")
    def menu(self, copilot: Copilot) -> SafeString:
        """Return the menu of a row; its buttons belong to the form at the end of the page."""
        context = {"copilot": copilot, "row": _row_of(copilot)}
        return render_to_string("admin/copilot_admin/copilot/row_menu.html", context)

    def get_urls(self) -> list[URLPattern]:
        def route(pattern: str, view: Callable[..., HttpResponseBase], name: str) -> URLPattern:
            view = self.admin_site.admin_view(view)
            return path(pattern, view, name=f"copilot_admin_copilot_{name}")

        routes = [
            route("archive/", self.archive_view, "archive"),
            route("export/", self.export_view, "export"),
            route("import/", self.import_view, "import"),
            route("import/<str:token>/", self.plan_view, "import_plan"),
            route("models/", self.models_view, "models"),
            route("preview/", self.preview_view, "preview"),
            route("publish/", self.publish_view, "publish"),
            route("tags/", self.tags_view, "tags"),
            route("templates/", self.gallery_view, "templates"),
            route("templates/<slug:slug>/", self.template_view, "from_template"),
            route("<id:pk>/back/", require_POST(self.unarchive_view), "unarchive"),
            route("<id:pk>/checklist/", require_POST(self.checklist_view), "checklist"),
            route("<id:pk>/discard/", self.discard_view, "discard"),
            route("<id:pk>/duplicate/", require_POST(self.duplicate_view), "duplicate"),
            route("<id:pk>/image/", self.image_view, "image"),
            route("<id:pk>/members/", self.members_view, "members"),
            route("<id:pk>/settings/", self.settings_view, "settings"),
            route("<id:pk>/versions/", self.versions_view, "versions"),
            route("<id:pk>/versions/compare/", self.compare_view, "compare"),
            route("<id:pk>/versions/<id:number>/restore/", self.restore_view, "restore"),
            route("<id:pk>/versions/<id:number>/publish/", self.roll_back_view, "again"),
        ]
        return require_copilot_access_in([*routes, *evaluation_urls(self), *super().get_urls()])

    def get_queryset(self, request: HttpRequest) -> QuerySet[Copilot]:
        return reachable(request.user, cast("CopilotQuerySet", super().get_queryset(request)))

    def has_publish_permission(self, request: HttpRequest) -> bool:
        return may_publish(request.user)

    def get_fieldsets(self, request: HttpRequest, obj: Copilot | None = None) -> Any:
        may_edit = (
            self.has_change_permission(request, obj) if obj else self.has_add_permission(request)
        )
        # The template places the fields of the editor itself.
        return [(None, {"fields": CopilotForm.Meta.fields if may_edit else VIEW_ONLY})]

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[CopilotList]:
        return CopilotList

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """Return the actions for active copilots, or those for the archive with deletion last."""
        found = super().get_actions(request)
        deletion = found.pop("delete_selected", None)
        if request.GET.get("state") != CopilotState.ARCHIVED:
            found.pop("restore_chosen", None)
            return found
        kept = {name: one for name, one in found.items() if name in OF_THE_ARCHIVE}
        return kept | ({"delete_selected": deletion} if deletion else {})

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any
    ) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.editor_id = request.user.pk
        return form

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        response = super().changeform_view(request, object_id, form_url, extra_context)
        if AUTOSAVE in request.POST and isinstance(response, TemplateResponse):
            context = response.context_data or {}
            return self._autosave_failed(request, context["adminform"].form)
        return response

    def save_model(
        self, request: HttpRequest, obj: Copilot, form: CopilotForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        self.fetch_images(request, [obj])

    def response_add(
        self, request: HttpRequest, obj: Copilot, post_url_continue: str | None = None
    ) -> HttpResponse:
        return self._after_saving(request, obj)

    def response_change(self, request: HttpRequest, obj: Copilot) -> HttpResponse:
        if AUTOSAVE in request.POST:
            obj.refresh_from_db()
            return self._autosaved(request, obj)
        return self._after_saving(request, obj)

    def _autosaved(self, request: HttpRequest, copilot: Copilot) -> HttpResponse:
        context = {
            "copilot_header": build_copilot_header(request, copilot, BUILD),
            "form": CopilotForm(instance=copilot),
            "image": image_url(copilot),
            "had_image": bool(request.FILES),
        }
        return render(request, "admin/copilot_admin/copilot/autosaved.html", context)

    def _autosave_failed(self, request: HttpRequest, form: CopilotForm) -> HttpResponse:
        name, sentences = next(iter(form.errors.items()))
        label = form.fields[name].label if name in form.fields else ""
        context = {"error": sentences[0], "label": label}
        return render(request, "admin/copilot_admin/copilot/autosaved.html", context)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        form = context["adminform"].form
        if isinstance(form, CopilotForm) and form.is_bound:
            form.keep_upload()
        context |= build_page_context(request, context["adminform"], context["original"])
        context["may_publish"] = self.has_publish_permission(request)
        response = super().render_change_form(request, context, *args, **kwargs)
        response["Content-Security-Policy"] = (
            CSP_WITH_OWN_FRAMES  # HTML of an answer, in the playground
        )
        return response

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return counts of the rows that would be deleted; a list could be endless."""
        return deletion_of(objs, user=request.user)

    def has_change_permission(self, request: HttpRequest, obj: Copilot | None = None) -> bool:
        is_off = obj is not None and self.is_out_of_use(obj)
        return not is_off and super().has_change_permission(request, obj)

    def is_out_of_use(self, row: Copilot) -> bool:
        return row.is_being_deleted or row.is_archived

    def has_delete_permission(self, request: HttpRequest, obj: Copilot | None = None) -> bool:
        is_going = obj is not None and obj.is_being_deleted
        return not is_going and super().has_delete_permission(request, obj)

    def delete_model(self, request: HttpRequest, obj: Copilot) -> None:
        self._delete(request, [obj.pk])

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Copilot]) -> None:
        self._delete(request, list(queryset.values_list("pk", flat=True)))

    def _delete(self, request: HttpRequest, ids: list[int]) -> None:
        with transaction.atomic():
            revoke_keys_of(ids)
            delete_in_background(ids)

    def _after_saving(self, request: HttpRequest, copilot: Copilot) -> HttpResponse:
        if "_publish" in request.POST:
            return HttpResponseRedirect(self.publish_url([copilot.pk]))
        count = len(problems(copilot))
        if count:
            text = ngettext(
                "Draft saved. Fix %(count)d problem before publishing.",
                "Draft saved. Fix %(count)d problems before publishing.",
                count,
            ) % {"count": count}
            self.message_user(request, text, level="warning")
        else:
            self.message_user(request, _("Draft saved."))
        if "_save" in request.POST:
            return HttpResponseRedirect(reverse("admin:copilot_admin_copilot_changelist"))
        return HttpResponseRedirect(self.change_url(copilot))
