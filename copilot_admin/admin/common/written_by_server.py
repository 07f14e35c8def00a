"""Rows that come by themselves: in the admin nobody adds, changes or deletes one."""

from typing import TYPE_CHECKING, Any

from django.http import HttpRequest

if TYPE_CHECKING:
    from copilot_admin.admin.common.audited import AuditedAdmin

    _Admin = AuditedAdmin[Any]
else:
    _Admin = object


class WrittenByServer(_Admin):
    """Takes from the admin of a model the right to add, change and delete; stands first among its bases."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
