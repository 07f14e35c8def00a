"""Pages of a copilot's versions: list, comparison, restore and roll back."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import may_publish
from copilot_admin.admin.common.base import number_in, stored
from copilot_admin.admin.copilots.archive import duplicate
from copilot_admin.admin.copilots.header import NAME, VERSIONS
from copilot_admin.admin.copilots.views import CopilotViews, person_of, with_next
from copilot_admin.copilots.checklist.findings import digest_of_draft
from copilot_admin.copilots.live_settings import lock
from copilot_admin.copilots.publishing import (
    checklist,
    document_of,
    document_today,
    draft_like,
    has_changes,
    republish,
    restore,
)
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.differences import marked_changes
from copilot_admin.evaluation.versions import version_of, version_page
from copilot_admin.models import Action, Copilot, CopilotVersion

DRAFT = "draft"


class VersionViews(CopilotViews):
    """Views of versions; looking needs no more than seeing the copilot."""

    def versions_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Show all versions, newest first, with their changes."""
        copilot = self.looked_at(request, pk)
        below = number_in(request.GET.get("below")) or None
        return self.render_page(
            request,
            "versions",
            _("Versions"),
            copilot=copilot,
            tab=VERSIONS,
            page=version_page(copilot, below=below),
            is_later_page=below is not None,
        )

    def compare_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Compare two versions, or a version and the draft, field by field."""
        copilot = self.looked_at(request, pk)
        live = str(copilot.live.number) if copilot.live else DRAFT
        before, after = request.GET.get("before") or live, request.GET.get("after") or DRAFT
        numbers = copilot.versions.order_by("-number").values_list("number", flat=True)
        names = {str(one): _("Version %(number)d") % {"number": one} for one in numbers}
        choices = {DRAFT: _("Draft"), **names}
        if not {before, after} <= choices.keys():
            raise Http404
        documents = (_document(copilot, before), _document(copilot, after))
        return self.render_page(
            request,
            "compare",
            _("Compare"),
            copilot=copilot,
            before=before,
            after=after,
            before_label=choices[before],
            after_label=choices[after],
            changes=marked_changes(*documents),
            choices=choices.items(),
        )

    def restore_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """Show what the draft would lose and gain; a POST replaces it by a version."""
        copilot = self.looked_at(request, pk, changing=True)
        version = _version(copilot, number)
        if request.method == "POST":
            with transaction.atomic():
                lock([copilot.pk])
                return self._restore(request, self.looked_at(request, pk, changing=True), version)
        return self.render_page(
            request,
            "restore",
            _("Restore version %(number)d to the draft?") % {"number": number},
            copilot=copilot,
            tab=VERSIONS,
            changes=marked_changes(document_of(copilot), document_today(version)),
            seen=digest_of_draft(copilot),
            would_lose=has_changes(copilot),
            explanation=_("The draft changes as follows. The live version is unchanged."),
            same=_("The draft already matches this version."),
            action=_("Restore"),
        )

    def again_view(self, request: HttpRequest, pk: int, number: int) -> HttpResponseBase:
        """Show checks and differences; a POST publishes an earlier version as a new one."""
        copilot = self.looked_at(request, pk)
        if not may_publish(request.user) or copilot.is_being_deleted or copilot.is_archived:
            raise PermissionDenied
        version = _version(copilot, number)
        try:
            if request.method == "POST":
                self._roll_back(request, copilot, version)
                return HttpResponseRedirect(self.url_of("versions", copilot))
            findings = checklist(draft_like(version))
        except ConfigurationError as error:
            messages.error(request, error.public)
            return HttpResponseRedirect(self.url_of("versions", copilot))
        live = document_today(copilot.live) if copilot.live else {}
        return self.render_page(
            request,
            "restore",
            _("Roll back to version %(number)d?") % {"number": number},
            copilot=copilot,
            tab=VERSIONS,
            changes=marked_changes(live, document_today(version)),
            checklist=findings,
            is_checked=True,
            explanation=_(
                "The live version changes as follows, immediately. The draft is unchanged."
            ),
            same=_("The live version already matches this version."),
            action=_("Roll back"),
        )

    def _roll_back(self, request: HttpRequest, copilot: Copilot, version: CopilotVersion) -> None:
        number = {"number": version.number}
        with transaction.atomic():
            made = republish(version, user=person_of(request))
            if made is None:
                messages.info(request, _("Version %(number)d is already live.") % number)
                return
            self.log_change(request, copilot, f"Published version {made.number}.")
            before = {"live": copilot.live.number if copilot.live else None}
            after = {"live": made.number, "again": version.number}
            self.audit(request, Action.PUBLISHED_AGAIN, copilot, before=before, after=after)
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
        if "keep" in request.POST and self.has_add_permission(request):
            kept = duplicate(copilot)
            self.log_addition(request, kept, [{"added": {}}])
            text = _("The previous draft was saved as “%(name)s”.") % {"name": kept.name}
            messages.info(request, text)
        number = {"number": version.number}
        self.restore_draft(request, copilot, version, f"Restored version {version.number}.")
        text = _("Version %(number)d was restored to the draft. The live version is unchanged.")
        messages.success(request, text % number)
        return HttpResponseRedirect(self.url_of("change", copilot))

    def restore_draft(
        self, request: HttpRequest, copilot: Copilot, version: CopilotVersion, entry: str
    ) -> None:
        """Replace a locked draft by a version; `entry` is for the change history."""
        before = stored(copilot)
        restore(version)
        self.log_change(request, copilot, entry)
        after = {**stored(copilot), "version": version.number}
        self.audit(request, Action.RESTORED, copilot, before=before, after=after)

    def discard_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Replace the draft by the live version, after a confirmation."""
        copilot = self.looked_at(request, pk, changing=True)
        live = copilot.live
        if live is None:
            raise Http404
        if request.method == "POST":
            try:
                with transaction.atomic():
                    lock([copilot.pk])
                    entry = f"Discarded changes since version {live.number}."
                    self.restore_draft(request, copilot, live, entry)
                messages.success(request, _("Changes discarded."))
            except ConfigurationError as error:
                messages.error(request, error.public)
            return HttpResponseRedirect(self.url_of("change", copilot))
        explanation = _("The draft becomes a copy of version %(number)d, which is live.")
        return self.render_page(
            request,
            "restore",
            _("Discard changes?"),
            copilot=copilot,
            explanation=explanation % {"number": live.number},
            changes=marked_changes(document_of(copilot), document_today(live)),
            same=_("The draft has no changes."),
            action=_("Discard changes"),
        )


def _document(copilot: Copilot, name: str) -> dict[str, Any]:
    return document_of(copilot) if name == DRAFT else document_today(_version(copilot, int(name)))


def _version(copilot: Copilot, number: int) -> CopilotVersion:
    if (version := version_of(copilot, number)) is None:
        raise Http404
    return version
