"""Roles of people in the admin: Django groups with fixed permissions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Role(StrEnum):
    """Name of the group of a role; people with several jobs are in several groups."""

    AUDITORS = "Auditors"
    BUILDERS = "Builders"
    OPERATORS = "Operators"
    PUBLISHERS = "Publishers"
    REVIEWERS = "Reviewers"


def _permissions(codenames: str) -> tuple[str, ...]:
    return tuple(name if "." in name else f"copilot_admin.{name}" for name in codenames.split())


@dataclass(frozen=True, kw_only=True)
class RoleRights:
    description: str | Promise
    permissions: tuple[str, ...]
    initial_permissions: tuple[str, ...] = ()  # administrators may remove them


ROLES: Mapping[Role, RoleRights] = {
    Role.AUDITORS: RoleRights(
        description=_("Read everything, including the audit log. Change nothing."),
        permissions=_permissions(
            "view_auditentry view_copilot reach_every_copilot view_provider view_modelprice "
            "view_endpointkey view_conversation view_componentcall view_reviewqueue "
            "view_criterion view_alert view_alertdelivery view_alertdigest view_alertrule "
            "view_alertwebhook view_subjectlimits auth.view_user auth.view_group"
        ),
    ),
    Role.BUILDERS: RoleRights(
        description=_(
            "Create, edit and try copilots, and read their conversations. "
            "Publish them, unless this was removed."
        ),
        permissions=_permissions(
            "view_copilot add_copilot change_copilot delete_copilot view_alert"
        ),
        initial_permissions=_permissions("publish_copilot"),
    ),
    # Erasing data is not part of a role: superusers grant it to people by name.
    Role.OPERATORS: RoleRights(
        description=_("Manage providers, prices, keys, limits, alerts, people and retention."),
        permissions=_permissions(
            "reach_every_copilot "
            "view_provider add_provider change_provider delete_provider "
            "view_modelprice add_modelprice change_modelprice delete_modelprice "
            "view_subjectlimits change_subjectlimits "
            "view_endpointkey add_endpointkey change_endpointkey "
            "add_allowedorigin delete_allowedorigin "
            "auth.view_user auth.add_user auth.change_user auth.delete_user auth.view_group "
            "view_criterion add_criterion change_criterion watch_background "
            "view_alertrule add_alertrule change_alertrule delete_alertrule "
            "view_alertwebhook add_alertwebhook change_alertwebhook delete_alertwebhook "
            "view_alertdigest add_alertdigest change_alertdigest delete_alertdigest "
            "hold_data view_alert view_alertdelivery"
        ),
    ),
    Role.PUBLISHERS: RoleRights(
        description=_("Read, publish and enable copilots."),
        permissions=_permissions("view_copilot publish_copilot"),
    ),
    Role.REVIEWERS: RoleRights(
        description=_("Read, review and export conversations."),
        permissions=_permissions(
            "view_conversation change_conversation export_conversation view_componentcall "
            "view_reviewqueue add_reviewqueue change_reviewqueue view_alert"
        ),
    ),
}


def create_roles(**_: object) -> None:
    """Create the groups and give them their permissions; runs after every `migrate`."""
    from django.contrib.auth.models import Group, Permission  # settings import this module

    permissions = {
        f"{row.content_type.app_label}.{row.codename}": row
        for row in Permission.objects.select_related("content_type")
    }
    for role, rights in ROLES.items():
        group, is_new = Group.objects.get_or_create(name=role.value)
        names = rights.permissions + (rights.initial_permissions if is_new else ())
        group.permissions.add(*(permissions[name] for name in names if name in permissions))
