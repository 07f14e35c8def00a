"""Import of copilot files: upload, preview of every changed field, confirmation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple
from datetime import timedelta
import hashlib
import json
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from copilot_admin.accounts.members import may_publish
from copilot_admin.admin.common.widgets import SeveralFiles, UploadsField
from copilot_admin.admin.copilots.header import NAME
from copilot_admin.admin.copilots.views import CopilotViews, person_of
from copilot_admin.audit.recording import Actor
from copilot_admin.copilots.comparison import FieldChange, format_value, label_of
from copilot_admin.copilots.config import LIVE_FIELDS
from copilot_admin.copilots.config_types import Text
from copilot_admin.copilots.providers import unset_keys
from copilot_admin.evaluation.differences import marked
from copilot_admin.import_export.changes import Difference, Effect, ImportedChange, record_import
from copilot_admin.import_export.errors import BadCopilotFile, FileError
from copilot_admin.import_export.importing import ImportOptions, import_files, usual_access
from copilot_admin.import_export.schema import validate
from copilot_admin.import_export.uploads import ReadFile, UploadedFile, read_files
from copilot_admin.models import Copilot, PendingImport
from copilot_admin.models.copilots import new_token

KEPT_FOR = timedelta(days=1)
MAX_ERRORS = 200  # shown on a page
MAX_COMPARED = 50  # rows whose fields are shown: comparing texts word by word takes its time
LABELS: Mapping[str, Text] = {
    "base_url": _("Base URL"),
    "api_key_env": _("Key variable"),
    "kind": _("Kind"),
    "options": _("Options"),
    "questions": _("Saved questions"),
    "slug": _("Slug"),
    "timeout_s": _("Timeouts"),
    "tool_calling": _("Tool calling"),
}
# In the order of the page.
EFFECTS: Mapping[Effect, tuple[Text, str]] = {
    Effect.CHANGED: (_("Changes"), "warn"),
    Effect.CREATED: (_("New"), "good"),
    Effect.UNCHANGED: (_("Stays as it is"), "muted"),
}
_IMMEDIATE_KEYS = frozenset(one.key for one in LIVE_FIELDS)


class ImportForm(forms.Form):
    copilot_files = UploadsField(
        label=_("Copilot files"),
        widget=SeveralFiles(attrs={"accept": ".yaml,.yml,.json,.zip"}),
        help_text=_("YAML or JSON as an export writes it, one or several, or a ZIP file of them."),
    )


class CopilotImportViews(CopilotViews):
    """Views of the import, for everyone who can add and change copilots."""

    def import_view(self, request: HttpRequest) -> HttpResponseBase:
        """Show the upload form; a POST reads the files and opens the preview."""
        user_id = self._check_may_import(request)
        is_sent = request.method == "POST"
        form = ImportForm(request.POST, request.FILES) if is_sent else ImportForm()
        errors: Sequence[FileError] = ()
        if is_sent and form.is_valid():
            files = form.cleaned_data["copilot_files"]
            try:
                found = read_files(UploadedFile(file.name, file.read()) for file in files)
                token = _store_upload(user_id, found)
                return HttpResponseRedirect(reverse(f"{NAME}_import_plan", args=[token]))
            except BadCopilotFile as error:
                errors = error.errors
        return self._import_page(request, "import", errors, form=form)

    def import_plan_view(self, request: HttpRequest, token: str) -> HttpResponseBase:
        """Show the changes; a POST makes them if they are still the same."""
        user_id = self._check_may_import(request)
        pending = PendingImport.objects.filter(token=token, user_id=user_id).first()
        if pending is None:
            return self._import_page(request, "import", form=ImportForm(), is_gone=True)
        is_publisher = may_publish(request.user)
        files: list[ReadFile] = []
        try:
            for row in pending.files:
                files.append(ReadFile(row["name"], row["values"], validate(row["values"])))
            if request.method == "POST":
                if "publish" in request.POST and not is_publisher:
                    raise PermissionDenied
                return self._carry_out(request, files, pending)
            return self._plan(request, files, publishing="publish" in request.GET and is_publisher)
        except BadCopilotFile as error:
            return self._import_page(request, "import_plan", error.errors, files=files)

    def _check_may_import(self, request: HttpRequest) -> int:
        if not (self.has_add_permission(request) and self.has_change_permission(request)):
            raise PermissionDenied
        return request.user.pk or 0

    def _carry_out(
        self, request: HttpRequest, files: list[ReadFile], pending: PendingImport
    ) -> HttpResponseBase:
        publishing = "publish" in request.POST
        with transaction.atomic():
            changes = self._imported(request, files, publishing=publishing, dry_run=False)
            is_as_shown = digest_of(changes) == request.POST.get("digest")
            if is_as_shown:
                pending.delete()
                self._log(request, changes)
                record_import(changes, by=Actor.of(request))
            transaction.set_rollback(not is_as_shown)
        if not is_as_shown:
            return self._plan(request, files, publishing=publishing, is_other=True)
        keys = unset_keys() if request.user.has_perm("copilot_admin.view_provider") else ()
        rows = build_rows(changes, linked=True)
        return self._import_page(request, "imported", rows=rows, keys_to_set=keys)

    def _plan(
        self,
        request: HttpRequest,
        files: list[ReadFile],
        *,
        publishing: bool,
        is_other: bool = False,
    ) -> HttpResponseBase:
        changes = self._imported(request, files, publishing=publishing, dry_run=True)
        return self._import_page(
            request,
            "import_plan",
            rows=build_rows(changes),
            unchanged=list(dict.fromkeys(one.name for one in changes if not one.is_change)),
            digest=digest_of(changes),
            publishing=publishing,
            does_anything=any(change.is_change for change in changes),
            is_other=is_other,
            files=files,
        )

    def _imported(
        self, request: HttpRequest, files: list[ReadFile], *, publishing: bool, dry_run: bool
    ) -> tuple[ImportedChange, ...]:
        options = ImportOptions(
            default_access=usual_access(), publishing=publishing, user=person_of(request)
        )
        return import_files([(one.name, one.file) for one in files], options, dry_run=dry_run)

    def _log(self, request: HttpRequest, changes: tuple[ImportedChange, ...]) -> None:
        for one in changes:
            if isinstance(one.row, Copilot) and one.effect is Effect.CREATED:
                self.log_addition(request, one.row, "Imported from a file.")
            elif isinstance(one.row, Copilot) and one.is_change:
                self.log_change(request, one.row, "Changed by an import.")

    def _import_page(
        self, request: HttpRequest, name: str, errors: Sequence[FileError] = (), **context: Any
    ) -> HttpResponseBase:
        context["faults"] = errors[:MAX_ERRORS]
        context["more_faults"] = max(len(errors) - MAX_ERRORS, 0)
        return self.render_page(request, name, gettext("Import"), **context)


def _store_upload(user_id: int, files: list[ReadFile]) -> str:
    PendingImport.objects.filter(sent_at__lt=timezone.now() - KEPT_FOR).delete()
    rows = [{"name": file.name, "values": file.values} for file in files]
    values = {"token": new_token(), "files": rows}
    kept, _is_new = PendingImport.objects.update_or_create(user_id=user_id, defaults=values)
    return kept.token


def digest_of(changes: Iterable[ImportedChange]) -> str:
    """Digest of an import's effects, to detect that they have changed since the preview."""
    facts = [
        [one.file, one.name, one.effect, one.published, *map(astuple, one.differences)]
        for one in changes
    ]
    return hashlib.sha256(json.dumps(facts, default=str).encode()).hexdigest()


def build_rows(changes: Iterable[ImportedChange], *, linked: bool = False) -> list[dict[str, Any]]:
    """Return the rows of an import, changes first; those of copilots may link to their pages."""
    order = list(EFFECTS)
    shown = [change for change in changes if change.is_change]
    shown.sort(key=lambda change: order.index(change.effect))
    return [_build_row(one, linked, is_compared=at < MAX_COMPARED) for at, one in enumerate(shown)]


def _build_row(change: ImportedChange, linked: bool, *, is_compared: bool) -> dict[str, Any]:
    label, tone = EFFECTS[change.effect]
    fields = [each for each in map(_describe, change.differences) if each.before or each.after]
    immediate = [one.key for one in change.differences if one.key in _IMMEDIATE_KEYS]
    if change.effect is not Effect.CHANGED:
        immediate = []
    copilot = change.row if linked and isinstance(change.row, Copilot) else None
    reset = [one.key for one in change.differences if not one.is_said]
    return {
        "name": change.name,
        "file": change.file,
        "label": label,
        "tone": tone,
        "url": reverse(f"{NAME}_change", args=[copilot.pk]) if copilot else "",
        "changes": marked(fields) if is_compared else (),
        "n_changes": len(fields),
        "at_once": ", ".join(map(_label, immediate)),
        "unsaid": ", ".join(map(_label, reset)),
        "published": change.published,
    }


def _label(key: str) -> str:
    return str(LABELS[key]) if key in LABELS else label_of(key)


def _describe(difference: Difference) -> FieldChange:
    key = difference.key
    before, after = _format(key, difference.before), _format(key, difference.after)
    return FieldChange(key=key, label=_label(key), before=before, after=after)


def _format(key: str, value: Any) -> str:
    if key != "questions":
        return format_value(key, value)
    if not value:
        return ""
    text = ngettext("%(count)d question", "%(count)d questions", len(value))
    return "\n".join([text % {"count": len(value)}, *(str(row["question"]) for row in value)])
