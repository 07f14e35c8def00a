"""Why a run is told to stop before its answer is whole, and what becomes of it then."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto

from copilot_admin.models import Outcome
from copilot_admin.storage.errors import DatabaseUnavailable

CRASHED = "Something went wrong on the server. It has been recorded; please ask again."
REVOKED = "The endpoint key was revoked or has expired, so this answer ends here."
SWITCHED_OFF = "Your account was switched off, so this answer ends here."
DELETED = "This copilot was deleted, so this answer ends here."
RESTARTING = "The server is restarting, so this answer ends here. Ask again in a moment."


class Stop(Enum):
    """Why a run is told to stop."""

    CLIENT_GONE = auto()
    NOT_ACCEPTED = auto()
    SHUTDOWN = auto()
    KEY_REVOKED = auto()
    SWITCHED_OFF = auto()
    COPILOT_DELETED = auto()
    CRASH = auto()


# Of these nobody hears the answer: before the journal has accepted the run, not a byte of it has left.
UNHEARD = frozenset({Stop.CLIENT_GONE, Stop.NOT_ACCEPTED})


@dataclass(frozen=True, slots=True)
class Stopped:
    """How a run ends that was told to stop.

    Attributes:
        sentence: Why, in words.
        code: The kind of failure.
        told: What the client is told; "": it hears nothing any more, or was told otherwise.
    """

    outcome: Outcome
    sentence: str = ""
    code: str = ""
    told: str = ""


def _said(outcome: Outcome, sentence: str, code: str) -> Stopped:
    return Stopped(outcome, sentence, code, told=sentence)


STOPPED: Mapping[Stop, Stopped] = {
    Stop.CLIENT_GONE: Stopped(Outcome.CANCELLED),
    Stop.NOT_ACCEPTED: Stopped(
        Outcome.CANCELLED, DatabaseUnavailable().public, DatabaseUnavailable.code
    ),
    Stop.SHUTDOWN: _said(Outcome.INTERRUPTED, RESTARTING, "shutdown"),
    Stop.KEY_REVOKED: _said(Outcome.FAILED, REVOKED, "key-revoked"),
    Stop.SWITCHED_OFF: _said(Outcome.FAILED, SWITCHED_OFF, "account-switched-off"),
    Stop.COPILOT_DELETED: _said(Outcome.FAILED, DELETED, "copilot-deleted"),
    Stop.CRASH: _said(Outcome.CRASHED, CRASHED, "crash"),
}
