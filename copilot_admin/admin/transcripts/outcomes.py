"""Outcomes and states with a label, a tone and an icon."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import Conversation, Outcome, TurnState


@dataclass(frozen=True, slots=True)
class Presentation:
    """Presentation of an outcome; `tone` is good, warn, bad, info or muted."""

    label: str | Promise
    tone: str
    icon: str
    sentence: str | Promise = ""


OUTCOMES: Mapping[str, Presentation] = {
    Outcome.RUNNING: Presentation(
        _("Running"), "info", "refresh", _("The answer is being written.")
    ),
    Outcome.COMPLETED: Presentation(_("Answered"), "good", "ok"),
    Outcome.TRUNCATED: Presentation(_("Truncated"), "warn", "alert", _("The answer was cut off.")),
    Outcome.FAILED: Presentation(_("Failed"), "bad", "fail", _("The copilot could not answer.")),
    Outcome.CRASHED: Presentation(
        _("Crashed"), "bad", "fail", _("Internal error. See the server log.")
    ),
    Outcome.CANCELLED: Presentation(
        _("Cancelled"), "muted", "stop", _("The client disconnected before the end.")
    ),
    Outcome.INTERRUPTED: Presentation(
        _("Interrupted"), "warn", "alert", _("The server stopped during the answer.")
    ),
    Outcome.REFUSED: Presentation(_("Rejected"), "warn", "stop", _("A limit was reached.")),
}
STATES: Mapping[str, Presentation] = {
    TurnState.OPEN: Presentation(_("In progress"), "info", "refresh"),
    TurnState.AWAITING_RESULT: Presentation(_("Waiting for Workspace"), "info", "refresh"),
    TurnState.DONE: Presentation(_("Answered"), "good", "ok"),
    TurnState.FAILED: Presentation(_("Not answered"), "bad", "fail"),
    TurnState.ABANDONED: Presentation(
        _("Abandoned"), "warn", "stop", _("Workspace never sent the requested data.")
    ),
}


def present_outcome(outcome: str) -> Presentation:
    """Return the presentation of an outcome; an unknown one is shown as it is."""
    return OUTCOMES.get(outcome, Presentation(outcome, "muted", "stop"))


def present_state(state: str) -> Presentation:
    return STATES.get(state, Presentation(state, "muted", "stop"))


def series_of(conversation: Conversation) -> int:
    """Return the number of the colour of a conversation's copilot."""
    return conversation.copilot_id % 6 + 1
