"""Who may know of which alerts."""

from django.contrib.auth.models import PermissionsMixin
from django.db.models import QuerySet

from copilot_admin.accounts.members import Person, reachable, reaches_all
from copilot_admin.models import Alert

READ = "copilot_admin.view_conversation"


def alerts_for(user: Person, alerts: QuerySet[Alert]) -> QuerySet[Alert]:
    """The alerts among these that somebody may know of.

    Whoever reads the transcripts of all copilots, or reaches every copilot, knows of all; others of
    those whose rule is about a copilot that they work on.
    """
    may_read = isinstance(user, PermissionsMixin) and user.has_perm(READ)
    if reaches_all(user) or may_read:
        return alerts
    return alerts.filter(rule__copilot__in=reachable(user))
