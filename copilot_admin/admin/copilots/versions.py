"""Pages of a copilot's versions: list, comparison, restore and roll back."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import may_publish
from copilot_admin.admin.common.base import stored
from copilot_admin.admin.copilots.archive import duplicate
from copilot_admin.admin.copilots.checklist import checklist_of
from copilot_admin.admin.copilots.header import BUILD, VERSIONS, build_copilot_header
from copilot_admin.admin.copilots.views import CopilotViews, number_in, person_of, with_next
from copilot_admin.copilots.archive import lock
from copilot_admin.copilots.publish_gate import digest_of_draft
from copilot_admin.copilots.publishing import (
    check_known,
    checklist,
    document_of,
    document_today,
    draft_like,
    has_changes,
    publish_again,
    restore,
)
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.differences import marked_changes
from copilot_admin.evaluation.versions import version_of, version_page
from copilot_admin.models import Action, Copilot, CopilotVersion
from protocol.json import Json

FOLDER = "admin/copilot_admin/copilot"
DRAFT = "draft"
NAME = "admin:copilot_admin_copilot"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedSide:
    """The draft or a version in a comparison."""

    value: str
    label: str | Promise
    document: dict[str, Json]


class VersionViews(CopilotViews):
    """Views of versions; looking needs no more than seeing the copilot."""

    def versions_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Show all versions, newest first, with their changes."""
        copilot = self.looked_at(request, pk)
        below = number_in(request.GET.get("below")) or None
        context = {
            "page": version_page(copilot, below=below),
            "is_later_page": below is not None,
            "has_changes": has_changes(copilot),
            "may_change": self.has_change_permission(request, copilot),
            "may_publish": may_publish(request.user),
        }
        return self._version_page(request, "versions", copilot, _("Versions"), context)

    def compare_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Compare two versions, or a version and the draft, field by field."""
        copilot = self.looked_at(request, pk)
        live = str(copilot.live.number) if copilot.live else DRAFT
        before = _side(copilot, request.GET.get("before") or live)
        after = _side(copilot, request.GET.get("after") or DRAFT)
        numbers = copilot.versions.order_by("-number").values_list("number", flat=True)
        context = {
            "before": before,
            "after": after,
            "changes": marked_changes(before.document, after.document),
            "choices": [(DRAFT, _("Draft")), *((str(one), _name(one)) for one in numbers)],
        }
        return self._version_page(request, "compare", copilot, _("Compare"), context)

    def restore_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """Show what the draft would lose and gain; a POST replaces it by a version."""
        copilot = self.looked_at(request, pk, changing=True)
        version = _version(copilot, number)
        try:
            check_known(version)
        except ConfigurationError as error:
            messages.error(request, error.public)
            return HttpResponseRedirect(reverse(f"{NAME}_versions", args=[copilot.pk]))
        if request.method == "POST":
            with transaction.atomic():
                lock([copilot.pk])
                return self._restore(request, self.looked_at(request, pk, changing=True), version)
        context = {
            "version": version,
            "changes": marked_changes(document_of(copilot), document_today(version)),
            "seen": digest_of_draft(copilot),
            "would_lose": has_changes(copilot),
            "may_keep": self.has_add_permission(request),
            "explanation": _("The draft changes as follows. The live version is unchanged."),
            "same": _("The draft already matches this version."),
            "action": _("Restore"),
        }
        title = _("Restore version %(number)d to the draft?") % {"number": number}
        return self._version_page(request, "restore", copilot, title, context)

    def roll_back_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """Show checks and differences; a POST publishes an earlier version as a new one."""
        copilot = self.looked_at(request, pk)
        if not may_publish(request.user) or copilot.is_being_deleted or copilot.is_archived:
            raise PermissionDenied
        version = _version(copilot, number)
        if request.method == "POST":
            self._roll_back(request, copilot, version)
            return HttpResponseRedirect(reverse(f"{NAME}_versions", args=[pk]))
        try:
            checks = checklist_of(checklist(draft_like(version)))
        except ConfigurationError as error:
            messages.error(request, error.public)
            return HttpResponseRedirect(reverse(f"{NAME}_versions", args=[pk]))
        live = document_today(copilot.live) if copilot.live else {}
        context = {
            "version": version,
            "changes": marked_changes(live, document_today(version)),
            "checklist": checks,
            "explanation": _(
                "The live version changes as follows, immediately. The draft is unchanged."
            ),
            "same": _("The live version already matches this version."),
            "action": _("Roll back"),
        }
        title = _("Roll back to version %(number)d?") % {"number": number}
        return self._version_page(request, "restore", copilot, title, context)

    def _roll_back(self, request: HttpRequest, copilot: Copilot, version: CopilotVersion) -> None:
        number = {"number": version.number}
        try:
            with transaction.atomic():
                made = publish_again(version, user=person_of(request))
                if made is not None:
                    self.log_change(request, copilot, f"Published version {made.number}.")
                    was = {"live": copilot.live.number if copilot.live else None}
                    now = {"live": made.number, "again": version.number}
                    self.audit(request, Action.PUBLISHED_AGAIN, copilot, before=was, after=now)
        except ConfigurationError as error:
            messages.error(request, error.public)
            return
        if made is None:
            messages.info(request, _("Version %(number)d is already live.") % number)
            return
        text = _("Rolled back: version %(made)d (same as version %(number)d) is live.")
        messages.success(request, with_next(text % {**number, "made": made.number}, copilot))

    def _restore(
        self, request: HttpRequest, copilot: Copilot, version: CopilotVersion
    ) -> HttpResponseBase:
        if request.POST.get("seen") != digest_of_draft(copilot):
            text = _("“%(name)s” changed since you reviewed it. Review it again.")
            messages.warning(request, text % {"name": copilot})
            return HttpResponseRedirect(
                reverse(f"{NAME}_restore", args=[copilot.pk, version.number])
            )
        kept: Copilot | None = None
        if "keep" in request.POST and self.has_add_permission(request):
            kept = duplicate(copilot)
            text = _("The previous draft was saved as “%(name)s”.") % {"name": kept.name}
            messages.info(request, text)
        before = stored(copilot)
        restore(version)
        if kept is not None:
            self.log_addition(request, kept, [{"added": {}}])
        self.log_change(request, copilot, f"Restored version {version.number} into the draft.")
        now = {**stored(copilot), "version": version.number}
        self.audit(request, Action.RESTORED, copilot, before=before, after=now)
        number = {"number": version.number}
        text = _("Version %(number)d was restored to the draft. The live version is unchanged.")
        messages.success(request, text % number)
        return HttpResponseRedirect(self.change_url(copilot))

    def _version_page(
        self, request: HttpRequest, name: str, copilot: Copilot, title: str, context: dict[str, Any]
    ) -> HttpResponseBase:
        common = {
            **self.page_context(request, title),
            "copilot": copilot,
            "copilot_header": build_copilot_header(
                request, copilot, BUILD if name == "compare" else VERSIONS
            ),
        }
        return render(request, f"{FOLDER}/{name}.html", common | context)


def _side(copilot: Copilot, wanted: str) -> ComparedSide:
    if wanted == DRAFT:
        label: str | Promise = gettext_lazy("Draft")
        return ComparedSide(value=DRAFT, label=label, document=document_of(copilot))
    version = _version(copilot, number_in(wanted))
    return ComparedSide(value=wanted, label=_name(version.number), document=document_today(version))


def _version(copilot: Copilot, number: int) -> CopilotVersion:
    if (version := version_of(copilot, number)) is None:
        raise Http404
    return version


def _name(number: int) -> str:
    return _("Version %(number)d") % {"number": number}
