"""Import of copilot files: upload, preview of every changed field, confirmation."""

from datetime import timedelta
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import is_reachable, may_publish
from copilot_admin.admin.common.form_fields import SeveralFiles, UploadsField
from copilot_admin.admin.copilots.import_plan import digest_of, planned, unchanged
from copilot_admin.admin.copilots.views import NO_ID, CopilotViews, person_of
from copilot_admin.audit.parties import Actor
from copilot_admin.copilots.providers import unset_keys
from copilot_admin.import_export.changes import Effect, ImportedChange, record_import
from copilot_admin.import_export.errors import BadCopilotFile, FileError
from copilot_admin.import_export.importing import ImportOptions, import_files, usual_access
from copilot_admin.import_export.schema import validate
from copilot_admin.import_export.uploads import ReadFile, UploadedFile, read_files
from copilot_admin.models import Copilot, PendingImport
from copilot_admin.models.copilots import new_token

FOLDER = "admin/copilot_admin/copilot"
KEPT_FOR = timedelta(days=1)
MAX_ERRORS = 200  # shown on a page
_COPILOT = "copilot "


class ImportForm(forms.Form):
    """The files to import."""

    copilot_files = UploadsField(
        label=gettext_lazy("Copilot files"),
        widget=SeveralFiles(attrs={"accept": ".yaml,.yml,.json,.zip"}),
        help_text=gettext_lazy(
            "YAML or JSON as an export writes it, one or several, or a ZIP file of them."
        ),
    )


class CopilotImportViews(CopilotViews):
    """Views of the import, for everyone who can add and change copilots."""

    def has_import_permission(self, request: HttpRequest) -> bool:
        return self.has_add_permission(request) and self.has_change_permission(request)

    def import_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show the upload form; a POST reads the files and opens the preview."""
        if not self.has_import_permission(request):
            raise PermissionDenied
        is_sent = request.method == "POST"
        form = ImportForm(request.POST, request.FILES) if is_sent else ImportForm()
        faults: tuple[FileError, ...] = ()
        if is_sent and form.is_valid():
            sent = [
                UploadedFile(file.name, file.read()) for file in form.cleaned_data["copilot_files"]
            ]
            try:
                return HttpResponseRedirect(
                    _plan_url(_store_upload(request.user.pk or NO_ID, read_files(sent)))
                )
            except BadCopilotFile as error:
                faults = error.errors
        context = {"form": form, **_errors_of(faults)}
        return self._import_page(request, "import.html", **context)

    def plan_view(self, request: HttpRequest, token: str) -> HttpResponseBase:
        """Show the changes; a POST makes them if they are still the same."""
        if not self.has_import_permission(request):
            raise PermissionDenied
        pending = PendingImport.objects.filter(
            token=token, user_id=request.user.pk or NO_ID
        ).first()
        if pending is None:
            return self._import_page(request, "import.html", form=ImportForm(), is_gone=True)
        files: list[ReadFile] = []
        try:
            for row in pending.files:
                files.append(ReadFile(row["name"], row["values"], validate(row["values"])))
            if request.method == "POST":
                return self._carry_out(request, files, pending)
            return self._plan(request, files)
        except BadCopilotFile as error:
            context = {"files": files, **_errors_of(error.errors)}
            return self._import_page(request, "import_plan.html", **context)

    def _carry_out(
        self, request: HttpRequest, files: list[ReadFile], pending: PendingImport
    ) -> HttpResponseBase:
        publishing = "publish" in request.POST
        if publishing and not may_publish(request.user):
            raise PermissionDenied
        with transaction.atomic():
            changes = self._imported(request, files, publishing=publishing, dry_run=False)
            is_as_shown = digest_of(changes) == request.POST.get("digest")
            if is_as_shown:
                pending.delete()
                self._log(request, changes)
                by = Actor.of(request)
                record_import(changes, by=by)
            transaction.set_rollback(not is_as_shown)
        if not is_as_shown:
            return self._plan(request, files, publishing=publishing, is_other=True)
        rows = _with_pages(changes)
        keys = unset_keys() if request.user.has_perm("copilot_admin.view_provider") else ()
        return self._import_page(request, "imported.html", rows=rows, keys_to_set=keys)

    def _plan(
        self,
        request: HttpRequest,
        files: list[ReadFile],
        *,
        publishing: bool | None = None,
        is_other: bool = False,
    ) -> HttpResponseBase:
        if publishing is None:
            publishing = "publish" in request.GET and may_publish(request.user)
        changes = self._imported(request, files, publishing=publishing, dry_run=True)
        return self._import_page(
            request,
            "import_plan.html",
            rows=planned(changes, urls={}),
            unchanged=unchanged(changes),
            digest=digest_of(changes),
            publishing=publishing,
            may_publish=may_publish(request.user),
            does_anything=any(change.is_change for change in changes),
            is_other=is_other,
            files=files,
        )

    def _imported(
        self, request: HttpRequest, files: list[ReadFile], *, publishing: bool, dry_run: bool
    ) -> tuple[ImportedChange, ...]:
        may_change_providers = request.user.has_perms(
            ["copilot_admin.add_provider", "copilot_admin.change_provider"]
        )
        options = ImportOptions(
            default_access=usual_access(),
            publishing=publishing,
            user=person_of(request),
            may_change_providers=may_change_providers,
            may_change_limits=request.user.has_perm("copilot_admin.change_subjectlimits"),
            may_change_retention=request.user.has_perm("copilot_admin.hold_data"),
            may_publish=may_publish(request.user),
            has_access=lambda copilot: is_reachable(request.user, copilot.pk),
        )
        return import_files([(one.name, one.file) for one in files], options, dry_run=dry_run)

    def _log(self, request: HttpRequest, changes: tuple[ImportedChange, ...]) -> None:
        by_slug = {copilot.slug: copilot for copilot in _copilots_of(changes)}
        for one in changes:
            copilot = by_slug.get(one.name.removeprefix(_COPILOT))
            if copilot is None:
                continue
            if one.effect is Effect.CREATED:
                self.log_addition(request, copilot, "Imported from a file.")
            elif one.effect is Effect.CHANGED or one.published:
                self.log_change(request, copilot, "Changed by an import.")

    def _import_page(self, request: HttpRequest, name: str, **context: Any) -> HttpResponseBase:
        common = self.page_context(request, _("Import"))
        return render(request, f"{FOLDER}/{name}", {**common, **context})


def _store_upload(user_id: int, files: list[ReadFile]) -> str:
    PendingImport.objects.filter(sent_at__lt=timezone.now() - KEPT_FOR).delete()
    rows = [{"name": file.name, "values": file.values} for file in files]
    values = {"token": new_token(), "files": rows}
    kept, _is_new = PendingImport.objects.update_or_create(user_id=user_id, defaults=values)
    return kept.token


def _plan_url(token: str) -> str:
    return reverse("admin:copilot_admin_copilot_import_plan", args=[token])


def _errors_of(faults: tuple[FileError, ...]) -> dict[str, Any]:
    return {"faults": faults[:MAX_ERRORS], "more_faults": max(len(faults) - MAX_ERRORS, 0)}


def _copilots_of(changes: tuple[ImportedChange, ...]) -> list[Copilot]:
    names = [one.name for one in changes if one.name.startswith(_COPILOT)]
    return list(Copilot.objects.filter(slug__in=[name.removeprefix(_COPILOT) for name in names]))


def _with_pages(changes: tuple[ImportedChange, ...]) -> list[Any]:
    urls = {
        f"{_COPILOT}{copilot.slug}": reverse(
            "admin:copilot_admin_copilot_change", args=[copilot.pk]
        )
        for copilot in _copilots_of(changes)
    }
    return planned(changes, urls=urls)
