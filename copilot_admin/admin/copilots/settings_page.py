"""Settings tab of a copilot: status, access, logging and tags take effect without publishing."""

from dataclasses import asdict
from typing import Any, ClassVar

from django import forms
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.forms import ModelForm
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import Person, may_publish, reachable
from copilot_admin.admin.common.base import stored
from copilot_admin.admin.common.widgets import DescribedRadio
from copilot_admin.admin.copilots.archive import duplicate
from copilot_admin.admin.copilots.fields import SETTINGS_PREFIX
from copilot_admin.admin.copilots.header import BUILD, SETTINGS, build_copilot_header
from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.copilots.archive import lock
from copilot_admin.copilots.config_choices import ACCESS, LOGGING
from copilot_admin.copilots.live_settings import (
    LiveSettings,
    consequences,
    is_opened,
    keys_of,
    switched,
)
from copilot_admin.copilots.publishing import document_of, document_today, restore
from copilot_admin.copilots.tags import known_tags
from copilot_admin.errors import ConfigurationError
from copilot_admin.evaluation.differences import marked_changes
from copilot_admin.models import Action, Copilot, CopilotVersion, Logging
from copilot_admin.privacy.retention import describe_retention
from copilot_admin.redaction.kinds import LABELS
from copilot_admin.redaction.rules import describe_rules, server_rules

FOLDER = "admin/copilot_admin/copilot"


class LiveSettingsForm(ModelForm[Copilot]):
    """The settings of a copilot that no version contains."""

    prefix = SETTINGS_PREFIX
    enabled = forms.BooleanField(
        label=gettext_lazy("Enabled"),
        required=False,
        help_text=gettext_lazy("When off, the copilot is hidden and does not answer."),
        widget=forms.CheckboxInput(attrs={"class": "ca-toggle", "role": "switch"}),
    )
    access = forms.ChoiceField(
        label=gettext_lazy("Access"),
        choices=[(one.value, one.label) for one in ACCESS],
        widget=DescribedRadio({one.value: one.help for one in ACCESS}),
    )
    logging = forms.ChoiceField(
        label=gettext_lazy("Logging"),
        choices=[(one.value, one.label) for one in LOGGING],
        widget=DescribedRadio({one.value: one.help for one in LOGGING}),
    )
    before = forms.CharField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Copilot
        fields: ClassVar[list[str]] = ["enabled", "access", "logging"]


class SettingsViews(CopilotViews):
    """The Settings tab, and the actions of the header that need no page of their own."""

    def settings_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Show the settings; a POST saves them, after a confirmation if users would notice."""
        if request.method != "POST":
            return self._settings_page(request, self.looked_at(request, pk), {})
        with transaction.atomic():
            lock([pk])  # an archived copilot can't be enabled by a form that was open before
            copilot = self.looked_at(request, pk, changing=True)
            result = self._save(request, copilot, switched(copilot))
        if "done" not in result:
            return self._settings_page(request, copilot, result)
        messages.success(request, result["done"])
        return HttpResponseRedirect(self.settings_url(copilot))

    def duplicate_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Copy a copilot and open the copy."""
        copilot = self.looked_at(request, pk)
        if not self.has_add_permission(request):
            raise PermissionDenied
        with transaction.atomic():
            made = duplicate(copilot)
            self.log_addition(request, made, [{"added": {}}])
        messages.success(request, _("“%(name)s” was created as a copy.") % {"name": made})
        return HttpResponseRedirect(self.change_url(made))

    def discard_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Replace the draft by the live version, after a confirmation."""
        copilot = self.looked_at(request, pk, changing=True)
        if copilot.live is None:
            raise Http404
        if request.method == "POST":
            try:
                self._discard(request, copilot, copilot.live)
            except ConfigurationError as error:
                messages.error(request, error.public)
            return HttpResponseRedirect(self.change_url(copilot))
        title = _("Discard changes?")
        context = {
            **self.page_context(request, title),
            "copilot": copilot,
            "copilot_header": build_copilot_header(request, copilot, BUILD),
            "explanation": _("The draft becomes a copy of version %(number)d, which is live.")
            % {"number": copilot.live.number},
            "changes": marked_changes(document_of(copilot), document_today(copilot.live)),
            "same": _("The draft has no changes."),
            "action": _("Discard changes"),
        }
        return render(request, f"{FOLDER}/restore.html", context)

    def _discard(self, request: HttpRequest, copilot: Copilot, version: CopilotVersion) -> None:
        with transaction.atomic():
            lock([copilot.pk])
            before = stored(copilot)
            restore(version)
            self.log_change(request, copilot, f"Discarded changes since version {version.number}.")
            after = {**stored(copilot), "version": version.number}
            self.audit(request, Action.RESTORED, copilot, before=before, after=after)
        messages.success(request, _("Changes discarded."))

    def _save(self, request: HttpRequest, copilot: Copilot, stored: LiveSettings) -> dict[str, Any]:
        form = LiveSettingsForm(request.POST, instance=copilot)
        is_valid = form.is_valid()
        wanted = switched(copilot) if is_valid else stored
        _put(copilot, stored)  # validation changed the instance
        if not is_valid:
            return {"form": form, "error": _("Choose one of the options.")}
        if form.cleaned_data["before"] != stamp(stored):
            text = _("These settings were changed by someone else. The current values are shown.")
            return {"error": text}
        if error := _missing_right(copilot, stored, wanted, user=request.user):
            return {"error": error}
        effects = consequences(stored, wanted, keys=keys_of(copilot))
        if effects and copilot.live_id and "sure" not in request.POST:
            return {"form": form, "question": effects}
        if effects:
            _put(copilot, wanted)
            copilot.save(update_fields=list(LiveSettingsForm.Meta.fields))
            self.log_change(request, copilot, [{"changed": {"fields": _labels(stored, wanted)}}])
            before, after = asdict(stored), asdict(wanted)
            self.audit(request, Action.SWITCHED, copilot, before=before, after=after)
        return {"done": _("Settings saved.") if effects else _("Nothing was changed.")}

    def _settings_page(
        self, request: HttpRequest, copilot: Copilot, result: dict[str, Any]
    ) -> HttpResponseBase:
        now = switched(copilot)
        user = request.user
        context = {
            **self.page_context(request, _("Settings")),
            "copilot": copilot,
            "copilot_header": build_copilot_header(request, copilot, SETTINGS),
            "may_change": self.has_change_permission(request, copilot),
            "form": LiveSettingsForm(instance=copilot, initial={"before": stamp(now)}),
            "sentences": (*now.sentences, *_storage_sentences(copilot)),
            "known_tags": known_tags(reachable(user).in_use()),
            "has_members": settings.MEMBERS,
            **result,
        }
        return render(request, f"{FOLDER}/settings.html", context)


def _missing_right(
    copilot: Copilot, stored: LiveSettings, wanted: LiveSettings, *, user: Person
) -> str:
    if may_publish(user):
        return ""
    if wanted.enabled and not stored.enabled:
        return _("You don't have permission to enable copilots. Ask a publisher.")
    if copilot.live_id and is_opened(stored, wanted):
        return _("You don't have permission to open copilots to everyone. Ask a publisher.")
    if copilot.live_id and wanted.logging != stored.logging:
        return _("You don't have permission to change the logging of a live copilot.")
    return ""


def _storage_sentences(copilot: Copilot) -> tuple[str, ...]:
    if copilot.logging != Logging.EVERYTHING:
        return ()
    kinds = [str(LABELS[kind]) for kind in server_rules().kinds]
    kinds += [one for one in describe_rules(copilot) if one not in kinds]
    redacted = _("Never stored: %(what)s.") % {"what": "; ".join(kinds)} if kinds else ""
    return tuple(filter(None, (describe_retention(copilot), redacted)))


def _put(copilot: Copilot, values: LiveSettings) -> None:
    for name, value in asdict(values).items():
        setattr(copilot, name, value)


def stamp(values: LiveSettings) -> str:
    """Return the settings as one string, by which a form notices a change by someone else."""
    return "/".join(str(value) for value in asdict(values).values())


def _labels(before: LiveSettings, after: LiveSettings) -> list[str]:
    names = [name for name, value in asdict(after).items() if asdict(before)[name] != value]
    return [str(LiveSettingsForm.base_fields[name].label) for name in names]
