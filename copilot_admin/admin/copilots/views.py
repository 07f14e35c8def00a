"""Pages of copilots that Django's admin doesn't have: publishing, preview, images."""

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Lower
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import assign_owner, may_publish
from copilot_admin.admin.common.base import BaseAdmin, number_in, post_only
from copilot_admin.admin.copilots.build_page import build_preview
from copilot_admin.admin.copilots.form import CopilotForm
from copilot_admin.admin.copilots.header import BUILD, NAME, build_copilot_header, image_url
from copilot_admin.copilots.config_types import remove_bidi_controls
from copilot_admin.copilots.images import fetch_copies, stored_image
from copilot_admin.copilots.live_settings import lock
from copilot_admin.copilots.publishing import Draft, NotPublishable, drafts_of, publish
from copilot_admin.evaluation.differences import marked, proposed_note
from copilot_admin.evaluation.results import read_column
from copilot_admin.models import Action, Copilot, TargetKind

FOLDER = "admin/copilot_admin/copilot"


class CopilotViews(BaseAdmin[Copilot]):
    """Views of the copilot admin; each asks for its permission itself."""

    def url_of(self, page: str, copilot: Copilot) -> str:
        """Return the URL of a page of a copilot, such as "change" or "settings"."""
        return reverse(f"{NAME}_{page}", args=[copilot.pk])

    def redirect_after(self, copilots: Sequence[Copilot], page: str) -> HttpResponseRedirect:
        """Return to a page of a single copilot, else to the list."""
        is_one = len(copilots) == 1
        url = self.url_of(page, copilots[0]) if is_one else reverse(f"{NAME}_changelist")
        return HttpResponseRedirect(url)

    def render_page(
        self,
        request: HttpRequest,
        name: str,
        title: str,
        *,
        copilot: Copilot | None = None,
        tab: str = BUILD,
        status: int = 200,
        **context: Any,
    ) -> HttpResponse:
        """Render a page; one about a copilot has its header."""
        common = self.page_context(request, title)
        if copilot is not None:
            header = build_copilot_header(request, copilot, tab)
            common |= {"copilot": copilot, "copilot_header": header}
        return render(request, f"{FOLDER}/{name}.html", {**common, **context}, status=status)

    def log_addition(self, request: HttpRequest, obj: Copilot, message: Any) -> Any:
        assign_owner(obj, request.user)
        return super().log_addition(request, obj, message)

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
        is_publisher = may_publish(request.user)
        may_look = self.has_change_permission(request) or is_publisher
        if not may_look or (request.method == "POST" and not is_publisher):
            raise PermissionDenied
        copilots = self.chosen(request)
        if request.method == "POST":
            return self._publish(request, [copilot.pk for copilot in copilots])
        drafts = drafts_of(copilots)
        cards = [
            {
                "draft": draft,
                "tests": read_column(draft.copilot, TargetKind.DRAFT),
                "changes": marked(draft.changes),
                "note": proposed_note(draft.changes, is_first=draft.is_first),
            }
            for draft in drafts
        ]
        return self.render_page(
            request,
            "publish",
            _("Publish"),
            copilot=copilots[0] if len(copilots) == 1 else None,
            cards=cards,
            ready=any(draft.may_go_live for draft in drafts),
        )

    @post_only
    def preview_view(self, request: HttpRequest) -> HttpResponseBase:
        """Return the preview of an unsaved form."""
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            raise PermissionDenied
        copilot = self.get_queryset(request).filter(pk=number_in(request.GET.get("id"))).first()
        form = CopilotForm(request.POST, instance=copilot)
        preview = build_preview(form, image=image_url(copilot) if copilot else "")
        return render(request, f"{FOLDER}/preview.html", {"preview": preview})

    def image_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Return the image of a draft: a PNG that this server has written."""
        name = stored_image(self.looked_at(request, pk).picture)
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
        """Return the copilots in use whose ids are in the URL; without any, the page is missing."""
        ids = [number_in(value) for value in request.GET.getlist("id")]
        found = list(self.in_use(request).filter(pk__in=ids).order_by(Lower("name"), "pk"))
        if not found:
            raise Http404
        return found

    def looked_at(self, request: HttpRequest, pk: int, *, changing: bool = False) -> Copilot:
        """Return a copilot that the user may view, or change."""
        rows = self.get_queryset(request).select_related("provider", "live__provider")
        copilot: Copilot = get_object_or_404(rows, pk=pk)
        may = self.has_change_permission if changing else self.has_view_permission
        if not may(request, copilot):
            raise PermissionDenied
        return copilot

    def in_use(self, request: HttpRequest) -> QuerySet[Copilot]:
        """Return the copilots that the user may see, without the archive."""
        rows = self.get_queryset(request).filter(archived_at=None, deletion_requested_at=None)
        return rows.select_related("provider", "live")

    def _publish(self, request: HttpRequest, ids: Sequence[int]) -> HttpResponse:
        seen = dict(value.split(":", 1) for value in request.POST.getlist("draft") if ":" in value)
        with transaction.atomic():
            # Read after locking: nobody has reviewed what is saved in the meantime.
            lock(ids)
            drafts = drafts_of(self.chosen(request))
            for draft in drafts:
                if (shown := seen.get(str(draft.copilot.pk))) is not None:
                    self._publish_one(request, draft, shown=shown)
            copilots = [draft.copilot for draft in drafts]
            self.fetch_images(request, copilots)
        return self.redirect_after(copilots, "change")

    def _publish_one(self, request: HttpRequest, draft: Draft, *, shown: str) -> None:
        copilot, name = draft.copilot, {"name": draft.copilot}
        if shown != draft.digest:
            text = _("“%(name)s” changed since you reviewed it. Review it again.") % name
            messages.warning(request, text)
            return
        if draft.findings.errors:
            text = _("“%(name)s” was not published. Fix the errors first.") % name
            messages.error(request, text)
            return
        note = remove_bidi_controls(" ".join(request.POST.get(f"note-{copilot.pk}", "").split()))
        try:
            version = publish(copilot, user=person_of(request), note=note)
        except NotPublishable as error:  # a change since made it invalid
            messages.error(request, error.public)
            return
        if version is None:
            messages.info(request, _("“%(name)s” has no unpublished changes.") % name)
            return
        self.log_change(request, copilot, f"Published version {version.number}.")
        earlier = copilot.versions.filter(number__lt=version.number).order_by("-number").first()
        before = {"live": earlier.number, **earlier.document} if earlier else {}
        after = {"live": version.number, **version.document, "note": version.note}
        self.audit(request, Action.PUBLISHED, copilot, before=before, after=after)
        text = _("Version %(number)d of “%(name)s” is live.")
        messages.success(request, with_next(text % {**name, "number": version.number}, copilot))


def with_next(sentence: str, copilot: Copilot) -> SafeString:
    """Return a message with a link to the Connect page."""
    url = reverse("connect:page", args=[copilot.pk])
    return format_html('{} <a href="{}">{}</a>', sentence, url, _("Connect to Workspace"))


def person_of(request: HttpRequest) -> User | None:
    return request.user if isinstance(request.user, User) else None


def page_of(name: str, ids: Iterable[int]) -> str:
    """Return the URL of a page about several copilots."""
    return f"{reverse(f'{NAME}_{name}')}?{urlencode([('id', pk) for pk in ids])}"
