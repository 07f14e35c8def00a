"""Number of waiting things behind the items of the menu."""

from collections.abc import Mapping

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User

from copilot_admin.alerts.rules import filter_visible
from copilot_admin.models import Alert
from copilot_admin.models.review import Assignment


def count_waiting(user: AbstractBaseUser | AnonymousUser) -> Mapping[str, int]:
    """Return the counts of the menu by section key, for what the user may see."""
    if not isinstance(user, User) or not user.is_active:
        return {}
    counts: dict[str, int] = {}
    if user.has_perm("copilot_admin.view_alert"):
        counts["alerts"] = filter_visible(user, Alert.objects.filter(closed_at=None)).count()
    if user.has_perm("copilot_admin.view_reviewqueue"):
        mine = Assignment.objects.filter(reviewer=user, done_at=None, queue__is_closed=False)
        counts["review"] = mine.order_by().count()
    return counts
