"""Status of a copilot: draft, published, disabled, broken, archived or being deleted."""

from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from copilot_admin.agent.providers.registry import make_provider
from copilot_admin.agent.values.document import spec_from_document
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


@dataclass(frozen=True, slots=True)
class StateLabels:
    """Texts of a state; `tone` is the colour of the chip."""

    label: str | Promise
    sentence: str | Promise
    tone: str


LABELS = {
    CopilotState.DELETED: StateLabels(
        _("Being deleted"), _("Its conversations are being deleted."), "muted"
    ),
    CopilotState.ARCHIVED: StateLabels(
        _("Archived"), _("Hidden. Does not answer until it is restored."), "muted"
    ),
    CopilotState.BROKEN: StateLabels(
        _("Broken"), _("Published, but its configuration doesn't work."), "bad"
    ),
    CopilotState.DISABLED: StateLabels(_("Disabled"), _("Hidden. Does not answer."), "muted"),
    CopilotState.DRAFT: StateLabels(_("Draft"), _("Not visible to anyone."), "info"),
    CopilotState.CHANGED: StateLabels(
        _("Unpublished changes"), _("Published. You have unpublished changes."), "warn"
    ),
    CopilotState.PUBLISHED: StateLabels(
        _("Published"), _("Published. No unpublished changes."), "good"
    ),
}


@dataclass(frozen=True, slots=True)
class CopilotStatus:
    """State of one copilot, and the reason if it is broken."""

    state: CopilotState
    problem: str = ""

    @property
    def labels(self) -> StateLabels:
        return LABELS[self.state]

    @property
    def sentence(self) -> str:
        """Return the reason, else the meaning of the state."""
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
    if copilot.live is None:
        return ""
    try:
        provider = provider_spec(copilot.live.provider)
        make_provider(spec_from_document(copilot.slug, copilot.live.document, provider).provider)
    except (ConfigurationError, RunError) as error:
        return error.public
    return ""
