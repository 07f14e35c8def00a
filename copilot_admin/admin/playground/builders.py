"""Who may use the playground: its addresses are none of the site's, which lets nobody else in."""

from django.contrib.auth.models import AnonymousUser, User

CHANGE = "copilot_admin.change_copilot"


def may_build(user: User | AnonymousUser) -> bool:
    return user.is_active and user.is_staff and user.has_perm(CHANGE)
