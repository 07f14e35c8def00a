"""The roles that people have in the admin, as groups of Django's permissions."""

from collections.abc import Mapping
from enum import StrEnum

from django.contrib.auth.models import Group, Permission


class Role(StrEnum):
    """A group of users."""

    BUILDERS = "Builders"
    OPERATORS = "Operators"
    REVIEWERS = "Reviewers"


# Permissions as `app.codename`. Who does more than one job is in more than one group.
PERMISSIONS: Mapping[Role, tuple[str, ...]] = {
    Role.BUILDERS: (
        "copilot_admin.view_copilot",
        "copilot_admin.add_copilot",
        "copilot_admin.change_copilot",
        "copilot_admin.delete_copilot",
    ),
    Role.OPERATORS: (
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
    ),
    Role.REVIEWERS: (
        "copilot_admin.view_conversation",
        "copilot_admin.change_conversation",
        "copilot_admin.export_conversation",
        "copilot_admin.view_componentcall",
        "copilot_admin.view_reviewqueue",
        "copilot_admin.add_reviewqueue",
        "copilot_admin.change_reviewqueue",
    ),
}


def create_roles(**_: object) -> None:
    """Makes the groups of the roles, and gives each what this release says it may do.

    Runs after every `migrate`, so that a permission which an upgrade brings reaches its role;
    what an operator added to a group stays.
    """
    for role, names in PERMISSIONS.items():
        group, _created = Group.objects.get_or_create(name=role.value)
        group.permissions.add(*_permissions(names))


def _permissions(names: tuple[str, ...]) -> list[Permission]:
    codenames = [name.partition(".")[2] for name in names]
    rows = Permission.objects.filter(codename__in=codenames).select_related("content_type")
    return [row for row in rows if f"{row.content_type.app_label}.{row.codename}" in names]
