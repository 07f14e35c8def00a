"""The panel of what acts at once: saved by itself, asked about where people would notice."""

from dataclasses import asdict
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from copilot_admin.accounts.members import Person, may_publish, reachable
from copilot_admin.admin.common.generics import CopilotModelForm
from copilot_admin.admin.copilots.draft_inputs import (
    AT_ONCE,
    AT_ONCE_PREFIX,
    help_texts,
    inputs_of_the_table,
    labels,
)
from copilot_admin.admin.copilots.views import CopilotViews
from copilot_admin.copilots.archive import lock
from copilot_admin.copilots.at_once import SwitchStates, consequences, is_opened, keys_of, switched
from copilot_admin.copilots.drafts import standing_of
from copilot_admin.copilots.tags import known_tags
from copilot_admin.models import Action, Copilot, Logging
from copilot_admin.privacy.retention import describe_retention
from copilot_admin.redaction.kinds import LABELS
from copilot_admin.redaction.rules import describe_rules, server_rules

FOLDER = "admin/copilot_admin/copilot"
_INPUTS = inputs_of_the_table()


class _TableInputs:
    """The panel's inputs in the table of draft fields: Django takes a mixin's fields over."""

    declared_fields: ClassVar[dict[str, forms.Field]] = {
        name: _INPUTS[name] for name in AT_ONCE if name in _INPUTS
    }


class AtOnceForm(_TableInputs, CopilotModelForm):
    """The switches of a copilot that no version holds."""

    prefix = AT_ONCE_PREFIX
    before = forms.CharField(widget=forms.HiddenInput, required=False)

    class Meta:
        model = Copilot
        fields: ClassVar[list[str]] = list(AT_ONCE)
        labels: ClassVar[dict[str, str | Promise]] = labels()
        help_texts: ClassVar[dict[str, str | Promise]] = help_texts()


class AtOnceViews(CopilotViews):
    """The view of the panel of switches that act at once."""

    def at_once_urls(self) -> list[URLPattern]:
        """The address of the panel's view."""
        wrap = self.admin_site.admin_view
        return [path("<id:pk>/now/", wrap(self.at_once_view), name="copilot_admin_copilot_at_once")]

    def at_once_view(self, request: HttpRequest, pk: int) -> HttpResponseBase:
        """Shows the switches; a POST turns them, after a question where people would notice.

        With `?part=1` only the panel is answered, for the page in which it stands.
        """
        if request.method != "POST":
            copilot = self.looked_at(request, pk, changing=True)
            return self._at_once(request, panel_of(copilot, request.user))
        with transaction.atomic():
            # Looked at behind the lock: one that is put away meanwhile can no more be switched.
            lock([pk])
            copilot = self.looked_at(request, pk, changing=True)
            panel = self._turn(request, copilot, switched(copilot))
        if "part" in request.GET or "question" in panel or "note" in panel:
            return self._at_once(request, panel)
        messages.success(request, panel["done"])
        return HttpResponseRedirect(self.change_url(copilot))

    def _turn(self, request: HttpRequest, copilot: Copilot, stored: SwitchStates) -> dict[str, Any]:
        form = AtOnceForm(request.POST, instance=copilot)
        is_valid = form.is_valid()
        wanted = switched(copilot) if is_valid else stored
        _put(copilot, stored)  # validation put there what is only wanted
        if not is_valid:
            return {
                **panel_of(copilot, request.user),
                "form": form,
                "note": _("Choose one of what is offered."),
            }
        if form.cleaned_data["before"] != stamp(stored):
            note = _("Somebody changed this meanwhile. It stands as you see it now; look again.")
            return panel_of(copilot, request.user) | {"note": note}
        if wanted.enabled and not stored.enabled and not may_publish(request.user):
            note = _("You may not switch copilots on. Ask somebody who publishes.")
            return panel_of(copilot, request.user) | {"note": note}
        if copilot.live_id and is_opened(stored, wanted) and not may_publish(request.user):
            note = _("You may not open copilots to everybody. Ask somebody who publishes.")
            return panel_of(copilot, request.user) | {"note": note}
        if copilot.live_id and wanted.logging != stored.logging and not may_publish(request.user):
            note = _(
                "You may not change what is kept of live copilots. Ask somebody who publishes."
            )
            return panel_of(copilot, request.user) | {"note": note}
        told = consequences(stored, wanted, keys=keys_of(copilot))
        if told and copilot.live_id and "sure" not in request.POST:
            return {**panel_of(copilot, request.user), "question": told, "form": form}
        if told:
            _put(copilot, wanted)
            copilot.save(update_fields=list(AT_ONCE))
            self.log_change(request, copilot, [{"changed": {"fields": _labels_of(stored, wanted)}}])
            before, after = asdict(stored), asdict(wanted)
            self.audit(request, Action.SWITCHED, copilot, before=before, after=after)
        done = _("Done. It acts from now on.") if told else _("Nothing was changed.")
        return panel_of(copilot, request.user) | {"done": done}

    def _at_once(self, request: HttpRequest, panel: dict[str, Any]) -> HttpResponse:
        if "part" in request.GET:
            return render(request, f"{FOLDER}/at_once.html", panel)
        common = self.page_context(request, _("What acts at once"))
        return render(request, f"{FOLDER}/at_once_page.html", {**common, **panel, "is_open": True})


def panel_of(copilot: Copilot, user: Person) -> dict[str, Any]:
    """What the panel shows of a copilot to somebody: of tags those of copilots that he knows of."""
    now = switched(copilot)
    return {
        "copilot": copilot,
        "may_turn": True,
        "standing": standing_of(copilot),
        "sentences": (*now.sentences, *_kept_sentences(copilot)),
        "tags": copilot.tags,
        "tags_typed": ", ".join(copilot.tags),
        "known_tags": known_tags(reachable(user).in_use()),
        "form": AtOnceForm(instance=copilot, initial={"before": stamp(now)}),
    }


def _kept_sentences(copilot: Copilot) -> tuple[str, ...]:
    if copilot.logging != Logging.EVERYTHING:
        return ()
    taken = [str(LABELS[kind]) for kind in server_rules().kinds]
    taken += [one for one in describe_rules(copilot) if one not in taken]
    redacted = _("Never stored: %(what)s.") % {"what": "; ".join(taken)} if taken else ""
    return tuple(filter(None, (describe_retention(copilot), redacted)))


def _put(copilot: Copilot, switches: SwitchStates) -> None:
    for name, value in asdict(switches).items():
        setattr(copilot, name, value)


def stamp(switches: SwitchStates) -> str:
    """How the switches stood when somebody looked, as the form carries it."""
    return "/".join(str(value) for value in asdict(switches).values())


def _labels_of(before: SwitchStates, after: SwitchStates) -> list[str]:
    names = [name for name, value in asdict(after).items() if asdict(before)[name] != value]
    return [str(AtOnceForm.base_fields[name].label) for name in names]
