"""Bulk actions of the copilot list, and the page for the tags of one or several copilots."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.copilots.archive import ArchiveViews, duplicate
from copilot_admin.admin.copilots.views import CopilotViews, page_of
from copilot_admin.copilots.live_settings import consequences, live_settings_of, lock
from copilot_admin.copilots.names import known_tags, tags_in, with_tags
from copilot_admin.errors import ConfigurationError
from copilot_admin.models import Action, Copilot

Rows = QuerySet[Copilot]


def _ids(rows: Rows) -> list[int]:
    return list(rows.values_list("pk", flat=True))


@admin.action(description=_("Publish…"), permissions=["publish"])
def publish_chosen(pages: CopilotViews, request: HttpRequest, queryset: Rows) -> HttpResponse:
    return HttpResponseRedirect(page_of("publish", _ids(queryset)))


@admin.action(description=_("Tags…"), permissions=["change"])
def tag_chosen(pages: CopilotViews, request: HttpRequest, queryset: Rows) -> HttpResponse:
    return HttpResponseRedirect(page_of("tags", _ids(queryset)))


@admin.action(description=_("Export…"), permissions=["view"])
def export_chosen(pages: CopilotViews, request: HttpRequest, queryset: Rows) -> HttpResponse:
    return HttpResponseRedirect(page_of("export", _ids(queryset)))


@admin.action(description=_("Duplicate"), permissions=["add"])
def duplicate_chosen(
    pages: CopilotViews, request: HttpRequest, queryset: Rows
) -> HttpResponse | None:
    with transaction.atomic():
        copies = [duplicate(copilot) for copilot in queryset.order_by(Lower("name"), "pk")]
        for copy in copies:
            pages.log_addition(request, copy, [{"added": {}}])
    text = ngettext("One copy was made.", "%(count)d copies were made.", len(copies))
    messages.info(request, text % {"count": len(copies)})
    return HttpResponseRedirect(pages.url_of("change", copies[0])) if len(copies) == 1 else None


@admin.action(description=_("Archive…"), permissions=["change"])
def archive_chosen(
    pages: ArchiveViews, request: HttpRequest, queryset: Rows
) -> HttpResponse | None:
    if queryset.filter(enabled=True, live__isnull=False).exists():
        return HttpResponseRedirect(page_of("archive", _ids(queryset)))
    pages.archive(request, _ids(queryset))
    return None


@admin.action(description=_("Restore"), permissions=["change"])
def restore_chosen(pages: ArchiveViews, request: HttpRequest, queryset: Rows) -> None:
    pages.unarchive(request, _ids(queryset))


@admin.action(description=_("Enable"), permissions=["publish"])
def enable_chosen(pages: CopilotViews, request: HttpRequest, queryset: Rows) -> HttpResponse | None:
    return _switch(pages, request, queryset, enabled=True)


@admin.action(description=_("Disable"), permissions=["change"])
def disable_chosen(
    pages: CopilotViews, request: HttpRequest, queryset: Rows
) -> HttpResponse | None:
    return _switch(pages, request, queryset, enabled=False)


def _switch(
    pages: CopilotViews, request: HttpRequest, queryset: Rows, *, enabled: bool
) -> HttpResponse | None:
    lock(_ids(queryset))  # one that is being archived stays disabled
    rows = queryset.exclude(enabled=enabled).filter(archived_at=None, deletion_requested_at=None)
    changed = list(rows)
    if "sure" not in request.POST and any(copilot.live_id for copilot in changed):
        settings = map(live_settings_of, changed)
        effects = (consequences(one, {**one, "enabled": enabled}, keys=0) for one in settings)
        return pages.render_page(
            request,
            "switch",
            gettext("Enable copilots?") if enabled else gettext("Disable copilots?"),
            copilots=changed,
            sentences=sorted({sentence for each in effects for sentence in each}),
            action=request.POST["action"],
            label=_("Enable") if enabled else _("Disable"),
        )
    for copilot in changed:
        copilot.enabled = enabled
        copilot.save(update_fields=["enabled"])
        pages.log_change(request, copilot, [{"changed": {"fields": [gettext("enabled")]}}])
        values = {"before": {"enabled": not enabled}, "after": {"enabled": enabled}}
        pages.audit(request, Action.SWITCHED, copilot, **values)
    if enabled:
        text = ngettext("One copilot was enabled.", "%(n)d copilots were enabled.", len(changed))
    else:
        text = ngettext("One copilot was disabled.", "%(n)d copilots were disabled.", len(changed))
    messages.info(request, text % {"n": len(changed)})
    return None


class TagViews(CopilotViews):
    """View of tags, for everyone who can change copilots."""

    def tags_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show the form; a POST sets `tags`, or adds and removes tags of several copilots."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        copilots = self.chosen(request)
        known = known_tags(reachable(request.user).in_use())
        fault = ""
        if request.method == "POST":
            try:
                messages.success(request, self._tag(request, copilots, known))
                return self.redirect_after(copilots, "settings")
            except ConfigurationError as error:
                fault = error.public
        typed = {name: request.POST.get(name, "") for name in ("tags", "add", "remove")}
        is_one = len(copilots) == 1
        if is_one and request.method != "POST":
            typed["tags"] = ", ".join(copilots[0].tags)
        context: dict[str, Any] = {
            "copilots": copilots,
            "is_one": is_one,
            "typed": typed,
            "known": known,
            "fault": fault,
            "back": self.redirect_after(copilots, "settings").url,
        }
        return self.render_page(
            request, "tags", gettext("Tags"), status=422 if fault else 200, **context
        )

    def _tag(self, request: HttpRequest, copilots: list[Copilot], known: list[str]) -> str:
        def read(key: str) -> list[str]:
            return tags_in(request.POST.get(key, ""), known=known)

        changes: dict[str, Any] = {"add": [*read("tags"), *read("add")], "remove": read("remove")}
        ids = [copilot.pk for copilot in copilots]
        count = 0
        with transaction.atomic():
            lock(ids)
            for copilot in Copilot.objects.filter(pk__in=ids):
                before = copilot.tags
                after = with_tags([] if "tags" in request.POST else before, **changes)
                if after == before:
                    continue
                count += 1
                copilot.tags = after
                copilot.save(update_fields=["tags"])
                self.log_change(request, copilot, [{"changed": {"fields": [gettext("tags")]}}])
                values = {"before": {"tags": before}, "after": {"tags": after}}
                self.audit(request, Action.CHANGED, copilot, **values)
        text = ngettext(
            "The tags of one copilot were changed.",
            "The tags of %(count)d copilots were changed.",
            count,
        )
        return text % {"count": count} if count else gettext("Nothing was changed.")
