"""Audit entries for accounts that Django's own management commands create or change."""

import sys
from typing import Any

from django.contrib.auth.models import User

from copilot_admin.audit.changes import snapshot
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.models import Action

# Pages record their own changes; these commands know nothing of the audit trail.
AUDITED_COMMANDS = {
    "createsuperuser": Action.ADDED,
    "changepassword": Action.PASSWORD_CHANGED,
    "shell": Action.CHANGED,
}


def record_account_change(instance: User, *, created: bool, **_signal: Any) -> None:
    """Record that a management command saved an account (receiver of `post_save`)."""
    action = AUDITED_COMMANDS.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if action is not None:
        after = snapshot(instance) if created else {"by": "command"}
        record(action, by=Actor.command(), on=Subject.of(instance), after=after)
