"""Settings tab of a copilot: status, access, logging and tags take effect without publishing."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from copilot_admin.accounts.members import Person, may_publish, reachable
from copilot_admin.admin.common.widgets import DescribedRadio
from copilot_admin.admin.copilots.header import SETTINGS
from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.copilots.checklist.findings import SETTINGS_PREFIX
from copilot_admin.copilots.config_types import ACCESS, LOGGING, Option
from copilot_admin.copilots.live_settings import (
    consequences,
    describe_live_settings,
    keys_of,
    live_settings_of,
    lock,
)
from copilot_admin.copilots.names import known_tags
from copilot_admin.models import Access, Action, Copilot, Logging
from copilot_admin.privacy.retention import describe_retention
from copilot_admin.redaction.kinds import LABELS
from copilot_admin.redaction.rules import describe_rules, server_rules


def _radio(label: Any, options: Sequence[Option]) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        choices=[(one.value, one.label) for one in options],
        widget=DescribedRadio({one.value: one.help for one in options}),
    )


class LiveSettingsForm(forms.Form):
    prefix = SETTINGS_PREFIX
    enabled = forms.BooleanField(
        label=gettext_lazy("Enabled"),
        required=False,
        help_text=gettext_lazy("When off, the copilot is hidden and does not answer."),
        widget=forms.CheckboxInput(attrs={"class": "ca-toggle", "role": "switch"}),
    )
    access = _radio(gettext_lazy("Access"), ACCESS)
    logging = _radio(gettext_lazy("Logging"), LOGGING)
    before = forms.CharField(widget=forms.HiddenInput, required=False)


class SettingsViews(CopilotViews):
    def settings_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Show the settings; a POST saves them, after a confirmation if users would notice."""
        if request.method != "POST":
            return self._settings_page(request, self.looked_at(request, pk), {})
        with transaction.atomic():
            lock([pk])  # an archived copilot can't be enabled by a form that was open before
            copilot = self.looked_at(request, pk, changing=True)
            result = self._save(request, copilot)
        if "done" not in result:
            return self._settings_page(request, copilot, result)
        messages.success(request, result["done"])
        return HttpResponseRedirect(self.url_of("settings", copilot))

    def _save(self, request: HttpRequest, copilot: Copilot) -> dict[str, Any]:
        form = LiveSettingsForm(request.POST)
        if not form.is_valid():
            return {"form": form, "error": _("Choose one of the options.")}
        before = live_settings_of(copilot)
        after = {name: form.cleaned_data[name] for name in before}
        if form.cleaned_data["before"] != _stamp(before):
            text = _("These settings were changed by someone else. The current values are shown.")
            return {"error": text}
        if error := _missing_right(copilot, after, user=request.user):
            return {"error": error}
        effects = list(consequences(before, after, keys=keys_of(copilot)))
        if not effects:
            return {"done": _("Nothing was changed.")}
        if copilot.live_id and "sure" not in request.POST:
            return {"form": form, "question": effects}
        for name, value in after.items():
            setattr(copilot, name, value)
        copilot.save(update_fields=list(after))
        fields = [str(form.fields[name].label) for name in after if before[name] != after[name]]
        self.log_change(request, copilot, [{"changed": {"fields": fields}}])
        self.audit(request, Action.SWITCHED, copilot, before=before, after=after)
        return {"done": _("Settings saved.")}

    def _settings_page(
        self, request: HttpRequest, copilot: Copilot, result: dict[str, Any]
    ) -> HttpResponseBase:
        now = live_settings_of(copilot)
        context: dict[str, Any] = {
            "may_change": self.has_change_permission(request, copilot),
            "form": LiveSettingsForm(initial={**now, "before": _stamp(now)}),
            "sentences": (*describe_live_settings(copilot), *_storage_sentences(copilot)),
            "known_tags": known_tags(reachable(request.user).in_use()),
            "has_members": settings.MEMBERS,
        }
        context |= result
        return self.render_page(
            request, "settings", _("Settings"), copilot=copilot, tab=SETTINGS, **context
        )


def _missing_right(copilot: Copilot, after: Mapping[str, Any], *, user: Person) -> str:
    if may_publish(user):
        return ""
    if after["enabled"] and not copilot.enabled:
        return _("You don't have permission to enable copilots. Ask a publisher.")
    if copilot.live_id and after["access"] == Access.OPEN != copilot.access:
        return _("You don't have permission to open copilots to everyone. Ask a publisher.")
    if copilot.live_id and after["logging"] != copilot.logging:
        return _("You don't have permission to change the logging of a live copilot.")
    return ""


def _storage_sentences(copilot: Copilot) -> tuple[str, ...]:
    if copilot.logging != Logging.EVERYTHING:
        return ()
    kinds = [str(LABELS[kind]) for kind in server_rules().kinds]
    kinds += [one for one in describe_rules(copilot) if one not in kinds]
    redacted = _("Never stored: %(what)s.") % {"what": "; ".join(kinds)} if kinds else ""
    return tuple(filter(None, (describe_retention(copilot), redacted)))


def _stamp(values: Mapping[str, Any]) -> str:
    """Return the settings as one string, by which a form notices a change by someone else."""
    return "/".join(map(str, values.values()))
