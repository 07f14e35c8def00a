"""Export: copilots are chosen by search and tag, and downloaded as one file or as a ZIP of them."""

from collections.abc import Iterable
from dataclasses import dataclass
import io
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.copilots.views import CopilotViews, number_in, page_of
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.copilots.tags import known_tags, tagged
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.writing import as_json, write_yaml
from copilot_admin.models import Action, Copilot
from copilot_admin.models.copilots import CopilotQuerySet

FOLDER = "admin/copilot_admin/copilot"
# YAML is written in Python alone, 20 ms for a copilot, and read in as much: more of it is JSON.
MOST_AS_YAML = 100
WRITERS = {"yaml": write_yaml, "json": as_json}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportWish:
    """Options of an export.

    Attributes:
        slugs: Of the copilots.
        live: What answers now instead of the drafts.
        suffix: `yaml` or `json`.
        each: A file for each, in a ZIP file; else one file.
    """

    slugs: tuple[str, ...]
    live: bool
    suffix: str
    each: bool


class ExportViews(CopilotViews):
    """The page of the export, for whoever may see copilots."""

    def export_urls(self) -> list[URLPattern]:
        """The address of the export."""
        wrap = self.admin_site.admin_view
        return [path("export/", wrap(self.export_view), name="copilot_admin_copilot_export")]

    def export_url(self, ids: Iterable[int]) -> str:
        """URL of the page that selects copilots for an export."""
        return page_of("export", ids)

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """Offers copilots to choose from; a POST gives the file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return self._export_page(request)
        wish = _wish(request)
        fault = _fault_of(wish) or _fault_of_reach(wish, request)
        if fault:
            return self._export_page(request, fault=fault, wish=wish)
        # Where models are, and in which variable a key is, concerns those who see providers alone.
        with_providers = request.user.has_perm("copilot_admin.view_provider")
        try:
            response = _download(wish, with_providers=with_providers)
        except ConfigurationError as error:
            return self._export_page(request, fault=error.public, wish=wish)
        facts = {"copilots": wish.slugs, "live": wish.live, "format": wish.suffix}
        by = Actor.of(request)
        record(Action.EXPORTED, by=by, on=Subject("copilot"), after=facts)
        return response

    def _export_page(
        self, request: HttpRequest, *, fault: str = "", wish: ExportWish | None = None
    ) -> HttpResponseBase:
        mine = reachable(request.user)
        in_use = mine.in_use()
        asked, tag = request.GET.get("q", "").strip(), request.GET.get("tag", "")
        ids = [number_in(value) for value in request.GET.getlist("id")]
        rows = mine.filter(pk__in=ids) if ids else in_use
        rows = _found(rows.filter(deletion_requested_at=None), asked=asked, tag=tag)
        found = list(rows.by_name().values("slug", "name", "tags", "live_id"))
        context: dict[str, Any] = {
            **self.page_context(request, _("Export")),
            "copilots": found,
            "chosen": set(wish.slugs) if wish else None,
            "live": bool(wish and wish.live),
            "each": bool(wish and wish.each),
            "json": wish.suffix == "json" if wish else len(found) > MOST_AS_YAML,
            "most_as_yaml": MOST_AS_YAML,
            "tags": [] if ids else known_tags(in_use),
            "tag": tag,
            "q": asked,
            "ids": ids,
            "fault": fault,
        }
        return render(request, f"{FOLDER}/export.html", context)


def _found(rows: CopilotQuerySet, *, asked: str, tag: str) -> CopilotQuerySet:
    if asked:
        rows = rows.filter(Q(name__icontains=asked) | Q(slug__icontains=asked))
    return tagged(rows, tag) if tag else rows


def _wish(request: HttpRequest) -> ExportWish:
    suffix = request.POST.get("format", "yaml")
    return ExportWish(
        slugs=tuple(request.POST.getlist("slug")),
        live=request.POST.get("what") == "live",
        suffix=suffix if suffix in WRITERS else "yaml",
        each=request.POST.get("files") == "each",
    )


def _fault_of(wish: ExportWish) -> str:
    if not wish.slugs:
        return _("Choose at least one copilot.")
    if wish.suffix == "yaml" and len(wish.slugs) > MOST_AS_YAML:
        sentence = _("YAML is for %(most)d copilots at most. Choose fewer, or JSON.")
        return sentence % {"most": MOST_AS_YAML}
    return ""


def _fault_of_reach(wish: ExportWish, request: HttpRequest) -> str:
    here = Copilot.objects.filter(slug__in=wish.slugs)
    if here.count() == reachable(request.user, here).count():
        return ""
    return _("One of them is not there any more. Choose again.")


def _download(wish: ExportWish, *, with_providers: bool) -> HttpResponse:
    """The file that somebody wants.

    Raises:
        ConfigurationError: A copilot is gone, or has no live version though that is wanted.
    """
    write = WRITERS[wish.suffix]
    day = f"{timezone.now():%Y-%m-%d}"
    if not wish.each:
        text = write(export_file(wish.slugs, live=wish.live, with_providers=with_providers))
        return _attached(
            text.encode(), f"copilots-{day}.{wish.suffix}", "text/plain; charset=utf-8"
        )
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for slug in dict.fromkeys(wish.slugs):
            values = export_file([slug], live=wish.live, with_providers=with_providers)
            archive.writestr(f"{slug}.{wish.suffix}", write(values))
    return _attached(buffer.getvalue(), f"copilots-{day}.zip", "application/zip")


def _attached(data: bytes, name: str, media_type: str) -> HttpResponse:
    response = HttpResponse(data, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "no-store"
    return response
