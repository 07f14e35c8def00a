"""Export page: selected copilots as one file, or as a ZIP file with one file each."""

import io
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.members import reachable
from copilot_admin.admin.common.base import number_in
from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.copilots.config_types import Text
from copilot_admin.errors import ConfigurationError
from copilot_admin.import_export.exporting import export_file
from copilot_admin.import_export.formats import as_json, write_yaml
from copilot_admin.models import Action, Copilot


def _radio(label: Any, *choices: tuple[str, Text]) -> forms.ChoiceField:
    first = choices[0][0]
    return forms.ChoiceField(label=label, choices=choices, initial=first, widget=forms.RadioSelect)


class ExportForm(forms.Form):
    what = _radio(_("Content"), ("draft", _("Drafts")), ("live", _("Live versions")))
    files = _radio(  # type: ignore[assignment]  # a field, not what was sent
        _("Files"), ("one", _("One file")), ("each", _("One file per copilot (ZIP)"))
    )
    format = _radio(_("Format"), ("yaml", "YAML"), ("json", "JSON"))


class ExportViews(CopilotViews):
    """The export page, for everyone who can see copilots."""

    def export_view(self, request: HttpRequest) -> HttpResponseBase:
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
            gettext("Export"),
            copilots=list(rows.values("slug", "name", "live_id")),
            chosen=set(chosen),
            form=ExportForm(request.POST if error else None),
            error=error,
        )


def _download(request: HttpRequest) -> HttpResponse:
    slugs = list(dict.fromkeys(request.POST.getlist("slug")))
    here = Copilot.objects.filter(slug__in=slugs)
    if not slugs:
        raise ConfigurationError(gettext("Choose at least one copilot."))
    if here.count() != reachable(request.user, here).count():
        raise ConfigurationError(gettext("One of them is not there any more. Choose again."))
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
