"""Outcomes and states as people read them: a word, a tone and a shape, never a colour alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.models import Outcome, TurnState


@dataclass(frozen=True, slots=True)
class ShownWords:
    """How something is shown; `icon` names a symbol of the page's icons."""

    label: str | Promise
    tone: str
    icon: str
    sentence: str | Promise = ""


OUTCOMES: Mapping[str, ShownWords] = {
    Outcome.RUNNING: ShownWords(_("Running"), "info", "running", _("The answer is being written.")),
    Outcome.COMPLETED: ShownWords(_("Completed"), "good", "completed"),
    Outcome.TRUNCATED: ShownWords(
        _("Truncated"), "warn", "truncated", _("The answer ended before it was whole.")
    ),
    Outcome.FAILED: ShownWords(_("Failed"), "bad", "failed", _("The copilot could not answer.")),
    Outcome.CRASHED: ShownWords(
        _("Crashed"),
        "bad",
        "crashed",
        _("The server made a mistake. Operators find it in the log."),
    ),
    Outcome.CANCELLED: ShownWords(
        _("Cancelled"), "muted", "cancelled", _("The client left before the answer was whole.")
    ),
    Outcome.INTERRUPTED: ShownWords(
        _("Interrupted"), "warn", "interrupted", _("The server stopped while it was answering.")
    ),
    Outcome.REFUSED: ShownWords(_("Refused"), "warn", "refused", _("A limit was reached.")),
}
STATES: Mapping[str, ShownWords] = {
    TurnState.OPEN: ShownWords(_("Being answered"), "info", "running"),
    TurnState.AWAITING_RESULT: ShownWords(_("Waiting for the client"), "info", "waiting"),
    TurnState.DONE: ShownWords(_("Answered"), "good", "completed"),
    TurnState.FAILED: ShownWords(_("Not answered"), "bad", "failed"),
    TurnState.ABANDONED: ShownWords(
        _("Abandoned"), "warn", "cancelled", _("The client never sent the data that was asked for.")
    ),
}


def outcome_words(outcome: str) -> ShownWords:
    """An outcome in words; one that this release does not know is shown as it is."""
    return OUTCOMES.get(outcome, ShownWords(outcome, "muted", "cancelled"))


def state_words(state: str) -> ShownWords:
    """A turn's state in words."""
    return STATES.get(state, ShownWords(state, "muted", "cancelled"))
