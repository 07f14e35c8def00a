"""Read-only admins, and admins without popups."""

from typing import TYPE_CHECKING, Any

from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.forms import Field, Media
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


if TYPE_CHECKING:
    from django.contrib.admin.options import BaseModelAdmin

    _AnyAdmin = BaseModelAdmin[Any]
else:
    _AnyAdmin = object


class NoPopups(_AnyAdmin):
    """Leaves the buttons out: a half-edited page stays the only window there is."""

    @property
    def media(self) -> Media:
        """Only the scripts of lists: others are of the pop-ups, and of slugs that Django writes.

        Those bring jQuery and XRegExp, which take a browser longer than all scripts of ours.
        """
        return Media(js=["admin/js/core.js", "admin/js/actions.js"])

    def formfield_for_dbfield(
        self, db_field: Any, request: HttpRequest, **kwargs: Any
    ) -> Field | None:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        widget = field.widget if field is not None else None
        if isinstance(widget, RelatedFieldWidgetWrapper):
            widget.can_add_related = widget.can_change_related = False
            widget.can_delete_related = widget.can_view_related = False
        return field


Fieldsets = list[tuple[Any, dict[str, Any]]]


def without(fieldsets: Fieldsets, *names: str) -> Fieldsets:
    """The same sections without some fields, and without sections that held no others."""
    left = [
        (label, {**options, "fields": [one for one in options["fields"] if one not in names]})
        for label, options in fieldsets
    ]
    return [(label, options) for label, options in left if options["fields"]]
