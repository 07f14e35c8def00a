"""Copilots in the admin: the list and the editor."""

from typing import Any, cast

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import URLPattern, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from copilot_admin.accounts.members import may_publish, reachable
from copilot_admin.admin.common.base import require_copilot_access_in, stored
from copilot_admin.admin.copilots import actions
from copilot_admin.admin.copilots.archive import ArchiveViews, deletion_of, revoke_keys_of
from copilot_admin.admin.copilots.build_page import build_page_context
from copilot_admin.admin.copilots.exports import ExportViews
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.admin.copilots.header import BUILD, NAME, build_copilot_header, image_url
from copilot_admin.admin.copilots.imports import CopilotImportViews
from copilot_admin.admin.copilots.list_page import (
    CopilotList,
    ListColumns,
    StateFilter,
    TagFilter,
)
from copilot_admin.admin.copilots.members import MemberViews
from copilot_admin.admin.copilots.model_menu import ModelViews
from copilot_admin.admin.copilots.settings_page import SettingsViews
from copilot_admin.admin.copilots.templates import TemplateViews
from copilot_admin.admin.copilots.versions import VersionViews
from copilot_admin.admin.copilots.views import FOLDER, page_of
from copilot_admin.admin.evaluation.views import evaluation_urls
from copilot_admin.admin.site.site import site
from copilot_admin.copilots.publishing import checklist
from copilot_admin.copilots.status import CopilotState
from copilot_admin.http.middleware import CSP_WITH_OWN_FRAMES
from copilot_admin.jobs.deletion import delete_in_background
from copilot_admin.models import Copilot
from copilot_admin.models.copilots import CopilotQuerySet

AUTOSAVE = "_autosave"  # in the form data of a save by the page itself
# Actions in the archive, next to deletion.
OF_THE_ARCHIVE = ("restore_chosen", "duplicate_chosen", "export_chosen")
# Users without the permission to change read the draft as text, not as read-only fields.
VIEW_ONLY = ["name"]


@admin.register(Copilot, site=site)
class CopilotAdmin(
    ListColumns,
    SettingsViews,
    ArchiveViews,
    actions.TagViews,
    MemberViews,
    CopilotImportViews,
    ExportViews,
    TemplateViews,
    ModelViews,
    VersionViews,
):
    form: type[CopilotForm] = CopilotForm
    routes = {
        "import_plan": "import/<str:token>/",
        "from_template": "templates/<slug:slug>/",
        "unarchive": "<id:pk>/back/",
        "compare": "<id:pk>/versions/compare/",
        "restore": "<id:pk>/versions/<id:number>/restore/",
        "again": "<id:pk>/versions/<id:number>/publish/",
    }
    list_views = (
        *("archive", "export", "import", "models", "preview", "publish", "tags", "templates"),
    )
    row_views = ("checklist", "discard", "duplicate", "image", "members", "settings", "versions")
    change_form_template = f"{FOLDER}/change_form.html"
    change_list_template = f"{FOLDER}/change_list.html"
    list_display = ("card", "state", "model", "who_may_ask", "last_question", "thumbs", "menu")
    list_display_links = None
    list_filter = (StateFilter, TagFilter, "access", "provider")
    list_select_related = ("provider", "live", "live__provider")
    search_fields = ("name", "slug", "description", "model")
    search_help_text = gettext_lazy("Name, slug, description or model")
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

    def get_urls(self) -> list[URLPattern]:
        return require_copilot_access_in([*evaluation_urls(self), *super().get_urls()])

    def get_queryset(self, request: HttpRequest) -> QuerySet[Copilot]:
        return reachable(request.user, cast(CopilotQuerySet, super().get_queryset(request)))

    def has_publish_permission(self, request: HttpRequest) -> bool:
        return may_publish(request.user)

    def get_fieldsets(self, request: HttpRequest, obj: Copilot | None = None) -> Any:
        # The template places the fields of the editor itself.
        is_editor = self.may_edit(request, obj)
        return [(None, {"fields": CopilotForm.Meta.fields if is_editor else VIEW_ONLY})]

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

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = super().changeform_view(request, *args, **kwargs)
        if AUTOSAVE in request.POST and isinstance(response, TemplateResponse):
            form = (response.context_data or {})["adminform"].form
            name, sentences = next(iter(form.errors.items()))
            label = form.fields[name].label if name in form.fields else ""
            context = {"error": sentences[0], "label": label}
            return render(request, f"{FOLDER}/autosaved.html", context)
        return response

    def save_model(
        self, request: HttpRequest, obj: Copilot, form: CopilotForm, change: bool
    ) -> None:
        super().save_model(request, obj, form, change)
        self.fetch_images(request, [obj])

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        # The form counts line ends and blanks around a text as changes; they aren't stored.
        if not add and stored(form.instance) == form.instance.before_form[1]:
            return []
        return super().construct_change_message(request, form, formsets, add)

    def response_add(self, request: HttpRequest, obj: Copilot, *args: Any) -> HttpResponse:
        return self._after_saving(request, obj)

    def response_change(self, request: HttpRequest, obj: Copilot) -> HttpResponse:
        if AUTOSAVE in request.POST:
            obj.refresh_from_db()
            context = {
                "copilot_header": build_copilot_header(request, obj, BUILD),
                "is_editor": True,
                "form": CopilotForm(instance=obj),
                "image": image_url(obj),
                "had_image": bool(request.FILES),
            }
            return render(request, f"{FOLDER}/autosaved.html", context)
        return self._after_saving(request, obj)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        form = context["adminform"].form
        if isinstance(form, CopilotForm) and form.is_bound:
            form.keep_upload()
        context |= build_page_context(request, context["adminform"], context["original"])
        response = super().render_change_form(request, context, *args, **kwargs)
        # HTML of an answer, in the playground.
        response["Content-Security-Policy"] = CSP_WITH_OWN_FRAMES
        return response

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return counts of the rows that would be deleted; a list could be endless."""
        return deletion_of(objs, user=request.user)

    def has_change_permission(self, request: HttpRequest, obj: Copilot | None = None) -> bool:
        is_off = obj is not None and (obj.is_being_deleted or obj.is_archived)
        return not is_off and super().has_change_permission(request, obj)

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
            return HttpResponseRedirect(page_of("publish", [copilot.pk]))
        count = len(checklist(copilot).errors)
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
            return HttpResponseRedirect(reverse(f"{NAME}_changelist"))
        return HttpResponseRedirect(self.url_of("change", copilot))
