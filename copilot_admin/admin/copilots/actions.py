"""Bulk actions of the copilot list."""

from dataclasses import replace

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from copilot_admin.admin.copilots.archive import ArchiveViews, duplicate
from copilot_admin.admin.copilots.exports import ExportViews
from copilot_admin.admin.copilots.tags import TagViews
from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.copilots.archive import lock
from copilot_admin.copilots.live_settings import consequences, switched
from copilot_admin.models import Action, Copilot


@admin.action(description=_("Publish…"), permissions=["publish"])
def publish_chosen(
    model_admin: CopilotViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> HttpResponse:
    return HttpResponseRedirect(model_admin.publish_url(queryset.values_list("pk", flat=True)))


@admin.action(description=_("Duplicate"), permissions=["add"])
def duplicate_chosen(
    model_admin: CopilotViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> HttpResponse | None:
    """Duplicate the copilots; a single copy is opened."""
    with transaction.atomic():
        copies = [duplicate(copilot) for copilot in queryset.order_by(Lower("name"), "pk")]
        for copy in copies:
            model_admin.log_addition(request, copy, [{"added": {}}])
    model_admin.message_user(
        request,
        ngettext("One copy was made.", "%(count)d copies were made.", len(copies))
        % {"count": len(copies)},
    )
    return HttpResponseRedirect(model_admin.change_url(copies[0])) if len(copies) == 1 else None


@admin.action(description=_("Archive…"), permissions=["change"])
def archive_chosen(
    model_admin: ArchiveViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> HttpResponse | None:
    """Archive the copilots, after a confirmation if one is live."""
    if queryset.filter(enabled=True, live__isnull=False).exists():
        return HttpResponseRedirect(model_admin.archive_url(queryset.values_list("pk", flat=True)))
    model_admin.archive(request, queryset.values_list("pk", flat=True))
    return None


@admin.action(description=_("Restore"), permissions=["change"])
def restore_chosen(
    model_admin: ArchiveViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> None:
    model_admin.unarchive(request, queryset.values_list("pk", flat=True))


@admin.action(description=_("Tags…"), permissions=["change"])
def tag_chosen(
    model_admin: TagViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> HttpResponse:
    return HttpResponseRedirect(model_admin.tags_url(queryset.values_list("pk", flat=True)))


@admin.action(description=_("Export…"), permissions=["view"])
def export_chosen(
    model_admin: ExportViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> HttpResponse:
    return HttpResponseRedirect(model_admin.export_url(queryset.values_list("pk", flat=True)))


@admin.action(description=_("Enable"), permissions=["publish"])
def enable_chosen(
    model_admin: CopilotViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> HttpResponse | None:
    return _switch(model_admin, request, queryset, enabled=True)


@admin.action(description=_("Disable"), permissions=["change"])
def disable_chosen(
    model_admin: CopilotViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> HttpResponse | None:
    return _switch(model_admin, request, queryset, enabled=False)


def _switch(
    model_admin: CopilotViews,
    request: HttpRequest,
    queryset: QuerySet[Copilot],
    *,
    enabled: bool,
) -> HttpResponse | None:
    lock(list(queryset.values_list("pk", flat=True)))  # one that is being archived stays disabled
    changed = list(
        queryset.exclude(enabled=enabled).filter(archived_at=None, deletion_requested_at=None)
    )
    if "sure" not in request.POST and any(copilot.live_id for copilot in changed):
        return _ask(model_admin, request, changed, enabled=enabled)
    with transaction.atomic():
        for copilot in changed:
            copilot.enabled = enabled
            copilot.save(update_fields=["enabled"])
        for copilot in changed:
            model_admin.log_change(request, copilot, [{"changed": {"fields": [str(_("enabled"))]}}])
            before, after = {"enabled": not enabled}, {"enabled": enabled}
            model_admin.audit(request, Action.SWITCHED, copilot, before=before, after=after)
    if enabled:
        text = ngettext("One copilot was enabled.", "%(n)d copilots were enabled.", len(changed))
    else:
        text = ngettext("One copilot was disabled.", "%(n)d copilots were disabled.", len(changed))
    model_admin.message_user(request, text % {"n": len(changed)})
    return None


def _ask(
    model_admin: CopilotViews, request: HttpRequest, changed: list[Copilot], *, enabled: bool
) -> HttpResponse:
    before = [switched(copilot) for copilot in changed]
    effects = {
        sentence
        for one in before
        for sentence in consequences(one, replace(one, enabled=enabled), keys=0)
    }
    context = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "title": _("Enable copilots?") if enabled else _("Disable copilots?"),
        "copilots": changed,
        "sentences": sorted(effects),
        "action": request.POST["action"],
        "label": _("Enable") if enabled else _("Disable"),
    }
    return render(request, "admin/copilot_admin/copilot/switch.html", context)
