"""Makes the roles' groups, and gives them what they may do."""

from django.contrib.auth.models import Group, Permission, User

from copilot_admin.config.roles import ROLES, Role

CHANGE = "copilot_admin.change_copilot"
# To whoever changes copilots, when publishers come to be; a firm where others publish takes it away.
GIVEN_ONCE = ("copilot_admin.publish_copilot",)


def create_roles(**_: object) -> None:
    """Makes the groups of the roles, and gives each what this release says it may do.

    Runs after every `migrate`, so that a permission which an upgrade brings reaches its role;
    what an operator added to a group stays, and builders who may not publish any more stay so.
    """
    has_publishers = Group.objects.filter(name=Role.PUBLISHERS.value).exists()
    for role, rights in ROLES.items():
        group, _created = Group.objects.get_or_create(name=role.value)
        group.permissions.add(*_permissions(rights.permissions))
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
