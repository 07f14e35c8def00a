"""The roles that people have in the admin: what each is for, and what it may do.

`settings` reads their names, so nothing here needs the models of `auth`; `role_groups` makes the groups.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Role(StrEnum):
    """A group of users, by its name."""

    AUDITORS = "Auditors"
    BUILDERS = "Builders"
    OPERATORS = "Operators"
    PUBLISHERS = "Publishers"
    REVIEWERS = "Reviewers"


@dataclass(frozen=True, kw_only=True)
class RoleRights:
    """What the people of a role do.

    Attributes:
        words: One sentence, for whoever gives roles.
        permissions: Django's, as `app.codename`.
    """

    words: str | Promise
    permissions: tuple[str, ...]


# Who does more than one job is in more than one group.
ROLES: Mapping[Role, RoleRights] = {
    Role.AUDITORS: RoleRights(
        words=_("Read everything, the audit trail too, and change nothing."),
        permissions=(
            "copilot_admin.view_auditentry",
            "copilot_admin.view_copilot",
            "copilot_admin.reach_every_copilot",
            "copilot_admin.view_provider",
            "copilot_admin.view_modelprice",
            "copilot_admin.view_endpointkey",
            "copilot_admin.view_conversation",
            "copilot_admin.view_componentcall",
            "copilot_admin.view_reviewqueue",
            "copilot_admin.view_criterion",
            "copilot_admin.view_alert",
            "copilot_admin.view_alertdelivery",
            "copilot_admin.view_alertdigest",
            "copilot_admin.view_alertrule",
            "copilot_admin.view_alertwebhook",
            "copilot_admin.view_subjectlimits",
            "auth.view_user",
            "auth.view_group",
        ),
    ),
    Role.BUILDERS: RoleRights(
        words=_("Make copilots, change and try them, and publish them unless others shall."),
        permissions=(
            "copilot_admin.view_copilot",
            "copilot_admin.add_copilot",
            "copilot_admin.change_copilot",
            "copilot_admin.delete_copilot",
            "copilot_admin.view_alert",
        ),
    ),
    Role.OPERATORS: RoleRights(
        words=_(
            "Look after providers, prices, keys, limits, alerts, people, and for how long transcripts stay."
        ),
        permissions=(
            "copilot_admin.reach_every_copilot",
            "copilot_admin.view_provider",
            "copilot_admin.add_provider",
            "copilot_admin.change_provider",
            "copilot_admin.delete_provider",
            "copilot_admin.view_modelprice",
            "copilot_admin.add_modelprice",
            "copilot_admin.change_modelprice",
            "copilot_admin.delete_modelprice",
            "copilot_admin.view_subjectlimits",
            "copilot_admin.change_subjectlimits",
            "copilot_admin.view_endpointkey",
            "copilot_admin.add_endpointkey",
            "copilot_admin.change_endpointkey",
            "copilot_admin.add_allowedorigin",
            "copilot_admin.delete_allowedorigin",
            "auth.view_user",
            "auth.add_user",
            "auth.change_user",
            "auth.delete_user",
            "auth.view_group",
            # They say who reviews, and so what is judged.
            "copilot_admin.view_criterion",
            "copilot_admin.add_criterion",
            "copilot_admin.change_criterion",
            "copilot_admin.watch_background",
            *(
                f"copilot_admin.{may}_{what}"
                for what in ("alertrule", "alertwebhook", "alertdigest")
                for may in ("view", "add", "change", "delete")
            ),
            # Erasing is no part of a role: it is given to people by name.
            "copilot_admin.hold_data",
            "copilot_admin.view_alert",
            "copilot_admin.view_alertdelivery",
        ),
    ),
    Role.PUBLISHERS: RoleRights(
        words=_("Read copilots, publish them and switch them on."),
        permissions=(
            "copilot_admin.view_copilot",
            "copilot_admin.publish_copilot",
        ),
    ),
    Role.REVIEWERS: RoleRights(
        words=_("Read, judge and export transcripts."),
        permissions=(
            "copilot_admin.view_conversation",
            "copilot_admin.change_conversation",
            "copilot_admin.export_conversation",
            "copilot_admin.view_componentcall",
            "copilot_admin.view_reviewqueue",
            "copilot_admin.add_reviewqueue",
            "copilot_admin.change_reviewqueue",
            "copilot_admin.view_alert",
        ),
    ),
}
