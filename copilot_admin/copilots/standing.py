"""Status of a copilot: draft, live, disabled, broken, archived or being deleted."""

from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext


class CopilotState(StrEnum):
    """The states that the list tells apart, most urgent first."""

    DELETED = "deleted"
    ARCHIVED = "archived"
    BROKEN = "broken"
    DISABLED = "disabled"
    DRAFT = "draft"
    CHANGED = "changed"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True)
class StandingWords:
    """A state in words; `tone` picks the colour of the badge."""

    label: str | Promise
    sentence: str | Promise
    tone: str


WORDS = {
    CopilotState.DELETED: StandingWords(
        _("Being deleted"), _("Its conversations are being deleted."), "muted"
    ),
    CopilotState.ARCHIVED: StandingWords(
        _("Archived"), _("Hidden. Does not answer until it is restored."), "muted"
    ),
    CopilotState.BROKEN: StandingWords(
        _("Broken"), _("Published, but its configuration doesn't work."), "bad"
    ),
    CopilotState.DISABLED: StandingWords(_("Disabled"), _("Hidden. Does not answer."), "muted"),
    CopilotState.DRAFT: StandingWords(_("Draft"), _("Not visible to anyone."), "info"),
    CopilotState.CHANGED: StandingWords(
        _("Unpublished changes"), _("Published. You have unpublished changes."), "warn"
    ),
    CopilotState.PUBLISHED: StandingWords(
        _("Published"), _("Published. No unpublished changes."), "good"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The state of one copilot, and the reason where it is broken."""

    state: CopilotState
    problem: str = ""

    @property
    def words(self) -> StandingWords:
        """The state as people read it."""
        return WORDS[self.state]

    @property
    def sentence(self) -> str:
        """What the state means, or what is wrong."""
        return self.problem or str(self.words.sentence)


def standing(
    *,
    enabled: bool,
    is_live: bool,
    has_changes: bool,
    problem: str,
    conversations_left: int | None = None,
    is_archived: bool = False,
) -> Standing:
    """Decides the state of a copilot.

    Args:
        enabled: Whether its switch is on.
        is_live: Whether a version was ever published.
        has_changes: Whether the draft differs from that version.
        problem: Why the live version cannot answer or be listed; empty when it can.
        conversations_left: Of a copilot that is being deleted; None when it is not.
        is_archived: Whether it was put away.
    """
    if conversations_left is not None:
        return Standing(state=CopilotState.DELETED, problem=_left(conversations_left))
    if is_archived:
        return Standing(state=CopilotState.ARCHIVED)
    if not is_live:
        return Standing(state=CopilotState.DRAFT)
    if not enabled:
        return Standing(state=CopilotState.DISABLED)
    if problem:
        return Standing(state=CopilotState.BROKEN, problem=problem)
    return Standing(state=CopilotState.CHANGED if has_changes else CopilotState.PUBLISHED)


def _left(conversations: int) -> str:
    sentence = ngettext(
        "One conversation is left.", "%(count)d conversations are left.", conversations
    )
    return sentence % {"count": conversations}
