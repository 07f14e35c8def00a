"""The roles that people have in the admin, as groups of Django's permissions."""

from collections.abc import Mapping

from django.contrib.auth.models import Group, Permission, User

from copilot_admin.config.role_names import Role

__all__ = ["GIVEN_ONCE", "PERMISSIONS", "Role", "create_roles"]


# Permissions as `app.codename`. Who does more than one job is in more than one group.
PERMISSIONS: Mapping[Role, tuple[str, ...]] = {
    # They read everything and change nothing.
    Role.AUDITORS: (
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
    Role.BUILDERS: (
        "copilot_admin.view_copilot",
        "copilot_admin.add_copilot",
        "copilot_admin.change_copilot",
        "copilot_admin.delete_copilot",
        "copilot_admin.view_alert",
    ),
    Role.OPERATORS: (
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
    Role.PUBLISHERS: (
        "copilot_admin.view_copilot",
        "copilot_admin.publish_copilot",
    ),
    Role.REVIEWERS: (
        "copilot_admin.view_conversation",
        "copilot_admin.change_conversation",
        "copilot_admin.export_conversation",
        "copilot_admin.view_componentcall",
        "copilot_admin.view_reviewqueue",
        "copilot_admin.add_reviewqueue",
        "copilot_admin.change_reviewqueue",
        "copilot_admin.view_alert",
    ),
}

CHANGE = "copilot_admin.change_copilot"
# To whoever changes copilots, when publishers come to be; a firm where others publish takes it away.
GIVEN_ONCE = ("copilot_admin.publish_copilot",)


def create_roles(**_: object) -> None:
    """Makes the groups of the roles, and gives each what this release says it may do.

    Runs after every `migrate`, so that a permission which an upgrade brings reaches its role;
    what an operator added to a group stays, and builders who may not publish any more stay so.
    """
    has_publishers = Group.objects.filter(name=Role.PUBLISHERS.value).exists()
    for role, names in PERMISSIONS.items():
        group, _created = Group.objects.get_or_create(name=role.value)
        group.permissions.add(*_permissions(names))
    if not has_publishers:
        _give_to_holders(CHANGE, GIVEN_ONCE)


def _give_to_holders(held: str, names: tuple[str, ...]) -> None:
    """Gives permissions to every group and person that has one already."""
    given = _permissions(names)
    for having in _permissions((held,)):
        for group in Group.objects.filter(permissions=having):
            group.permissions.add(*given)
        for user in User.objects.filter(user_permissions=having):
            user.user_permissions.add(*given)


def _permissions(names: tuple[str, ...]) -> list[Permission]:
    codenames = [name.partition(".")[2] for name in names]
    rows = Permission.objects.filter(codename__in=codenames).select_related("content_type")
    return [row for row in rows if f"{row.content_type.app_label}.{row.codename}" in names]
