"""Status of a copilot: draft, published, disabled, broken, archived or being deleted."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.spec import spec_from_document
from copilot_admin.copilots.providers import provider_spec
from copilot_admin.copilots.publishing import has_changes
from copilot_admin.errors import ConfigurationError, RunError
from copilot_admin.models import Copilot


class CopilotState(StrEnum):
    """The states of copilots, most urgent first."""

    DELETED = "deleted"
    ARCHIVED = "archived"
    BROKEN = "broken"
    DISABLED = "disabled"
    DRAFT = "draft"
    CHANGED = "changed"
    PUBLISHED = "published"


class StateLabels(NamedTuple):
    """Texts of a state; `tone` is the colour of the chip."""

    label: str | Promise
    tone: str
    sentence: str | Promise


LABELS = {
    CopilotState.DELETED: StateLabels(
        _("Being deleted"), "muted", _("Its conversations are being deleted.")
    ),
    CopilotState.ARCHIVED: StateLabels(
        _("Archived"), "muted", _("Hidden. Does not answer until it is restored.")
    ),
    CopilotState.BROKEN: StateLabels(
        _("Broken"), "bad", _("Published, but its configuration doesn't work.")
    ),
    CopilotState.DISABLED: StateLabels(_("Disabled"), "muted", _("Hidden. Does not answer.")),
    CopilotState.DRAFT: StateLabels(_("Draft"), "info", _("Not visible to anyone.")),
    CopilotState.CHANGED: StateLabels(
        _("Unpublished changes"), "warn", _("Published. You have unpublished changes.")
    ),
    CopilotState.PUBLISHED: StateLabels(
        _("Published"), "good", _("Published. No unpublished changes.")
    ),
}


@dataclass(frozen=True, slots=True)
class CopilotStatus:
    state: CopilotState
    problem: str = ""

    @property
    def labels(self) -> StateLabels:
        return LABELS[self.state]

    @property
    def sentence(self) -> str:
        return self.problem or str(self.labels.sentence)


def status_of(copilot: Copilot) -> CopilotStatus:
    """Return the status of a copilot; `live` and its provider should be loaded with it."""
    if copilot.is_being_deleted:
        left = copilot.conversations.count()
        text = ngettext("One conversation is left.", "%(count)d conversations are left.", left)
        return CopilotStatus(CopilotState.DELETED, text % {"count": left})
    if copilot.is_archived:
        return CopilotStatus(CopilotState.ARCHIVED)
    if copilot.live is None:
        return CopilotStatus(CopilotState.DRAFT)
    if not copilot.enabled:
        return CopilotStatus(CopilotState.DISABLED)
    if problem := find_live_problem(copilot):
        return CopilotStatus(CopilotState.BROKEN, problem)
    return CopilotStatus(CopilotState.CHANGED if has_changes(copilot) else CopilotState.PUBLISHED)


def find_live_problem(copilot: Copilot) -> str:
    """Return the reason why the live version can't be listed or can't answer; empty if it can."""
    live = copilot.live
    try:
        if live:
            provider = provider_spec(live.provider)
            make_provider(spec_from_document(copilot.slug, live.document, provider).provider)
    except (ConfigurationError, RunError) as error:
        return error.public
    return ""
