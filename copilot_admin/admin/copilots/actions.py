"""What can be done with several copilots of the list at once."""

from django.contrib import admin
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from copilot_admin.admin.copilots.copies import duplicate
from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.models import Copilot


@admin.action(description=_("Publish…"), permissions=["change"])
def publish_chosen(
    model_admin: CopilotViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> HttpResponse:
    """Goes to the page that names what would go live."""
    return HttpResponseRedirect(model_admin.publish_url(queryset.values_list("pk", flat=True)))


@admin.action(description=_("Duplicate"), permissions=["add"])
def duplicate_chosen(
    model_admin: CopilotViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> HttpResponse | None:
    """Makes a draft like each; a single copy is opened."""
    with transaction.atomic():
        copies = [duplicate(copilot) for copilot in queryset.order_by("name")]
    for copy in copies:
        model_admin.log_addition(request, copy, [{"added": {}}])
    model_admin.message_user(
        request,
        ngettext("One copy was made.", "%(count)d copies were made.", len(copies))
        % {"count": len(copies)},
    )
    return HttpResponseRedirect(model_admin.change_url(copies[0])) if len(copies) == 1 else None


@admin.action(description=_("Enable"), permissions=["change"])
def enable_chosen(
    model_admin: CopilotViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> None:
    """Switches copilots on; it acts at once."""
    _switch(model_admin, request, queryset, enabled=True)


@admin.action(description=_("Disable"), permissions=["change"])
def disable_chosen(
    model_admin: CopilotViews, request: HttpRequest, queryset: QuerySet[Copilot]
) -> None:
    """Switches copilots off; it acts at once."""
    _switch(model_admin, request, queryset, enabled=False)


def _switch(
    model_admin: CopilotViews,
    request: HttpRequest,
    queryset: QuerySet[Copilot],
    *,
    enabled: bool,
) -> None:
    changed = list(queryset.exclude(enabled=enabled).filter(deletion_requested_at=None))
    with transaction.atomic():
        for copilot in changed:
            copilot.enabled = enabled
            copilot.save(update_fields=["enabled", "updated_at"])
            model_admin.log_change(request, copilot, [{"changed": {"fields": [str(_("enabled"))]}}])
    if enabled:
        text = ngettext("One copilot was enabled.", "%(n)d copilots were enabled.", len(changed))
    else:
        text = ngettext("One copilot was disabled.", "%(n)d copilots were disabled.", len(changed))
    model_admin.message_user(request, text % {"n": len(changed)})
