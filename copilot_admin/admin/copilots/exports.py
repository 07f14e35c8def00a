"""Export page: selected copilots as one file, or as a ZIP file with one file each."""

import io
from zipfile import ZIP_DEFLATED, ZipFile

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.copilots.views import CopilotViews, number_in
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.writing import as_json, write_yaml
from copilot_admin.models import Action, Copilot


class ExportViews(CopilotViews):
    """The export page, for everyone who can see copilots."""

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show the copilots to choose from; a POST returns the file."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        error = ""
        if request.method == "POST":
            try:
                return _download(request)
            except ConfigurationError as problem:
                error = problem.public
        mine = reachable(request.user)
        ids = [number_in(value) for value in request.GET.getlist("id")]
        rows = mine.filter(pk__in=ids) if ids else mine.in_use()
        rows = rows.filter(deletion_requested_at=None).by_name()
        chosen = request.POST.getlist("slug") if error else rows.values_list("slug", flat=True)
        return self.render_page(
            request,
            "export",
            _("Export"),
            copilots=list(rows.values("slug", "name", "live_id")),
            chosen=set(chosen),
            choices=_choices(request),
            error=error,
        )


def _choices(request: HttpRequest) -> list[tuple[str, str, list[tuple[str, str, bool]]]]:
    """Return the radio buttons: name, legend, and value, label and state of each."""
    texts = [
        ("what", _("Content"), [("draft", _("Drafts")), ("live", _("Live versions"))]),
        ("files", _("Files"), [("one", _("One file")), ("each", _("One file per copilot (ZIP)"))]),
        ("format", _("Format"), [("yaml", "YAML"), ("json", "JSON")]),
    ]
    return [
        (
            name,
            legend,
            [(one, label, request.POST.get(name, given[0][0]) == one) for one, label in given],
        )
        for name, legend, given in texts
    ]


def _download(request: HttpRequest) -> HttpResponse:
    slugs = list(dict.fromkeys(request.POST.getlist("slug")))
    here = Copilot.objects.filter(slug__in=slugs)
    if not slugs:
        raise ConfigurationError(_("Choose at least one copilot."))
    if here.count() != reachable(request.user, here).count():
        raise ConfigurationError(_("One of them is not there any more. Choose again."))
    live = request.POST.get("what") == "live"
    suffix = "json" if request.POST.get("format") == "json" else "yaml"
    # URLs and key variables concern those who can see providers.
    with_providers = request.user.has_perm("copilot_admin.view_provider")

    def write(chosen: list[str]) -> str:
        file = export_file(chosen, live=live, with_providers=with_providers)
        return as_json(file) if suffix == "json" else write_yaml(file)

    facts = {"copilots": slugs, "live": live, "format": suffix}
    name = f"copilots-{timezone.now():%Y-%m-%d}"
    if request.POST.get("files") == "each":
        buffer = io.BytesIO()
        with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
            for slug in slugs:
                archive.writestr(f"{slug}.{suffix}", write([slug]))
        response = HttpResponse(buffer.getvalue(), content_type="application/zip")
        suffix = facts["format"] = "zip"
    else:
        response = HttpResponse(write(slugs), content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.{suffix}"'
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "no-store"
    record(Action.EXPORTED, by=Actor.of(request), on=Subject("copilot"), after=facts)
    return response
