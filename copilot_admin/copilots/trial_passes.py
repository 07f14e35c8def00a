"""Passes with which this server asks itself: signed, for one copilot, for a minute, kept nowhere.

A test of the connection sends one where a client sends its endpoint key: the question goes the
whole way of a client's, and is journaled as a trial of whoever tests.
"""

from dataclasses import dataclass

from django.core import signing

SECONDS = 60  # from the press of a button to the door; the answer may take longer
_START = "trial_"  # no endpoint key begins like this
_SALT = "copilot_admin.trial_pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialPass:
    """Who may ask which copilot."""

    user_id: int
    copilot_id: int


def new_trial_pass(*, user_id: int, copilot_id: int) -> str:
    """A pass that opens one copilot, once it is published, whoever may ask it."""
    return _START + signing.dumps([user_id, copilot_id], salt=_SALT)


def is_trial_pass(key: str) -> bool:
    return key.startswith(_START)


def trial_pass_in(key: str) -> TrialPass | None:
    """What a pass says; None when it is forged or too old."""
    try:
        user_id, copilot_id = signing.loads(key.removeprefix(_START), salt=_SALT, max_age=SECONDS)
    except signing.BadSignature:
        return None
    return TrialPass(user_id=user_id, copilot_id=copilot_id)
