"""Pages of copilots that Django's admin doesn't have: publishing, preview, images."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
)
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import assign_owner, may_publish
from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.copilots.checklist import Checklist, checklist_of
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.admin.copilots.header import BUILD, build_copilot_header, image_url
from copilot_admin.admin.copilots.preview import preview_of_form
from copilot_admin.copilots.archive import lock
from copilot_admin.copilots.config_types import remove_bidi_controls
from copilot_admin.copilots.drafts import Draft, drafts_of
from copilot_admin.copilots.images import fetch_copies, stored_image
from copilot_admin.copilots.publishing import NotPublishable, publish
from copilot_admin.evaluation.differences import MarkedChange, marked, proposed_note
from copilot_admin.evaluation.results import TargetColumn, read_column
from copilot_admin.models import Action, Copilot, CopilotVersion, TargetKind

NO_ID = 0  # no row has it


@dataclass(frozen=True, slots=True)
class PublishCard:
    """A draft on the page that confirms publishing."""

    draft: Draft
    tests: TargetColumn | None  # results of the draft

    @property
    def unasked(self) -> tuple[str, ...]:
        return self.draft.unasked

    @property
    def checklist(self) -> Checklist:
        return checklist_of(self.draft.findings)

    @property
    def changes(self) -> tuple[MarkedChange, ...]:
        return marked(self.draft.changes)

    @property
    def note(self) -> str:
        return proposed_note(self.draft.changes, is_first=self.draft.is_first)


class CopilotViews(BaseAdmin[Copilot]):
    """Views of the copilot admin; each asks for its permission itself."""

    def change_url(self, copilot: Copilot) -> str:
        """URL of the editor of a copilot."""
        return reverse("admin:copilot_admin_copilot_change", args=[copilot.pk])

    def settings_url(self, copilot: Copilot) -> str:
        """Return the URL of the Settings tab."""
        return reverse("admin:copilot_admin_copilot_settings", args=[copilot.pk])

    def log_addition(self, request: HttpRequest, obj: Copilot, message: Any) -> Any:
        assign_owner(obj, request.user)
        return super().log_addition(request, obj, message)

    def publish_url(self, ids: Iterable[int]) -> str:
        """URL of the page that confirms publishing."""
        return page_of("publish", ids)

    def image_of(self, copilot: Copilot) -> str:
        """Return the URL of the image on this server, if it has one."""
        return image_url(copilot)

    def fetch_images(self, request: HttpRequest, copilots: Iterable[Copilot]) -> None:
        """Copy linked images to this server after the transaction."""
        addresses = [copilot.picture for copilot in copilots]

        def fetch() -> None:
            for address, why in fetch_copies(addresses).items():
                text = _(
                    "The image stays a link, which Workspace loads by itself: %(address)s could not "
                    "be fetched. %(why)s"
                )
                messages.warning(request, text % {"address": address, "why": why})

        transaction.on_commit(fetch)

    def publish_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show the changes and checks; a POST publishes."""
        may_look = self.has_change_permission(request) or may_publish(request.user)
        if not may_look or (request.method == "POST" and not may_publish(request.user)):
            raise PermissionDenied
        copilots = self.chosen(request)
        if request.method == "POST":
            return self._publish(request, [copilot.pk for copilot in copilots])
        drafts = drafts_of(copilots)
        context = {
            **self.page_context(request, _("Publish")),
            **header_of(request, copilots),
            "drafts": drafts,
            "cards": [
                PublishCard(draft, read_column(draft.copilot, TargetKind.DRAFT)) for draft in drafts
            ],
            "ready": [draft for draft in drafts if draft.may_go_live],
            "may_publish": may_publish(request.user),
        }
        return render(request, "admin/copilot_admin/copilot/publish.html", context)

    def preview_view(self, request: HttpRequest) -> HttpResponseBase:
        """Return the preview of an unsaved form."""
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            raise PermissionDenied
        copilot = self.get_queryset(request).filter(pk=number_in(request.GET.get("id"))).first()
        form = CopilotForm(request.POST, instance=copilot)
        preview = preview_of_form(form, image=self.image_of(copilot) if copilot else "")
        return render(request, "admin/copilot_admin/copilot/preview.html", {"preview": preview})

    def image_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Return the image of a draft: a PNG that this server has written."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        copilot = get_object_or_404(self.get_queryset(request), pk=pk)
        name = stored_image(copilot.picture)
        if not name:
            raise Http404
        try:
            with default_storage.open(name, "rb") as file:
                response = HttpResponse(file.read(), content_type="image/png")
        except FileNotFoundError as error:
            raise Http404 from error
        response["X-Content-Type-Options"] = "nosniff"
        response["Content-Security-Policy"] = "default-src 'none'; sandbox"
        response["Cache-Control"] = "private, max-age=3600"
        return response

    def chosen(self, request: HttpRequest) -> list[Copilot]:
        """Return the copilots in use whose ids are in the URL.

        Raises:
            Http404: There is none.
        """
        ids = [number_in(value) for value in request.GET.getlist("id")]
        found = list(self._in_use(request).filter(pk__in=ids).order_by(Lower("name"), "pk"))
        if not found:
            raise Http404
        return found

    def looked_at(self, request: HttpRequest, pk: int, *, changing: bool = False) -> Copilot:
        """Return a copilot that the user may view, or change.

        Raises:
            Http404: There is none.
            PermissionDenied: They may not.
        """
        rows = self.get_queryset(request).select_related("provider", "live__provider")
        copilot: Copilot = get_object_or_404(rows, pk=pk)
        may = self.has_change_permission if changing else self.has_view_permission
        if not may(request, copilot):
            raise PermissionDenied
        return copilot

    def one_in_use(self, request: HttpRequest, pk: int) -> Copilot:
        """Return a copilot in use with its live version.

        Raises:
            Http404: There is none.
        """
        copilot: Copilot = get_object_or_404(self._in_use(request), pk=pk)
        return copilot

    def _in_use(self, request: HttpRequest) -> QuerySet[Copilot]:
        rows = self.get_queryset(request).filter(archived_at=None, deletion_requested_at=None)
        return rows.select_related("provider", "live")

    def _publish(self, request: HttpRequest, ids: Sequence[int]) -> HttpResponse:
        seen = {value.partition(":")[0]: value for value in request.POST.getlist("draft")}
        with transaction.atomic():
            # Read after locking: nobody has reviewed what is saved in the meantime.
            lock(ids)
            drafts = drafts_of(self.chosen(request))
            for draft in drafts:
                if str(draft.copilot.pk) in seen:
                    shown = seen[str(draft.copilot.pk)].partition(":")[2]
                    self._publish_one(request, draft, shown=shown)
            self.fetch_images(request, [draft.copilot for draft in drafts])
        if len(drafts) == 1:
            return HttpResponseRedirect(self.change_url(drafts[0].copilot))
        return HttpResponseRedirect(reverse("admin:copilot_admin_copilot_changelist"))

    def _publish_one(self, request: HttpRequest, draft: Draft, *, shown: str) -> None:
        name = {"name": draft.copilot}
        if shown != draft.digest:
            text = _("“%(name)s” changed since you reviewed it. Review it again.") % name
            messages.warning(request, text)
        elif draft.errors:
            text = _("“%(name)s” was not published. Fix the errors first.") % name
            messages.error(request, text)
        elif (version := _published(request, draft.copilot)) is not None:
            self.log_change(request, draft.copilot, f"Published version {version.number}.")
            self._audit_publishing(request, draft.copilot, version)
            text = _("Version %(number)d of “%(name)s” is live.")
            messages.success(
                request, with_next(text % {**name, "number": version.number}, draft.copilot)
            )

    def _audit_publishing(
        self, request: HttpRequest, copilot: Copilot, version: CopilotVersion
    ) -> None:
        earlier = copilot.versions.filter(number__lt=version.number).order_by("-number").first()
        before = {"live": earlier.number, **earlier.document} if earlier else {}
        after = {"live": version.number, **version.document, "note": version.note}
        self.audit(request, Action.PUBLISHED, copilot, before=before, after=after)


def _published(request: HttpRequest, copilot: Copilot) -> CopilotVersion | None:
    try:
        note = _note_of(request, copilot)
        version = publish(copilot, user=person_of(request), note=note)
    except NotPublishable as error:  # what it needs has gone since
        messages.error(request, error.public)
        return None
    if version is None:
        messages.info(request, _("“%(name)s” has no unpublished changes.") % {"name": copilot})
    return version


def header_of(request: HttpRequest, copilots: Sequence[Copilot]) -> dict[str, Any]:
    """Return the header of a page about one copilot, or the base of a page about several."""
    if len(copilots) != 1:
        return {"base_template": "admin/base_site.html"}
    return {
        "base_template": "admin/copilot_admin/copilot/base.html",
        "copilot_header": build_copilot_header(request, copilots[0], BUILD),
    }


def with_next(sentence: str, copilot: Copilot) -> SafeString:
    """Return a message with a link to the Connect page."""
    return format_html(
        '{} <a href="{}">{}</a>',
        sentence,
        reverse("connect:page", args=[copilot.pk]),
        _("Connect to Workspace"),
    )


def _note_of(request: HttpRequest, copilot: Copilot) -> str:
    note = " ".join(request.POST.get(f"note-{copilot.pk}", "").split())
    return remove_bidi_controls(note)


def person_of(request: HttpRequest) -> AbstractBaseUser | None:
    """Return the signed-in user."""
    return request.user if isinstance(request.user, AbstractBaseUser) else None


def number_in(text: str | None) -> int:
    """Return the number in a URL or form, else `NO_ID`."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) < 16 else NO_ID


def page_of(name: str, ids: Iterable[int]) -> str:
    """Return the URL of a page about several copilots."""
    query = urlencode([("id", pk) for pk in ids])
    return f"{reverse(f'admin:copilot_admin_copilot_{name}')}?{query}"
