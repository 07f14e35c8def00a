"""Fields that point to other things, without the stock buttons that open those in a pop-up."""

from typing import TYPE_CHECKING, Any

from django.contrib.admin.widgets import RelatedFieldWidgetWrapper
from django.forms import Field, Media
from django.http import HttpRequest

if TYPE_CHECKING:
    from django.contrib.admin.options import BaseModelAdmin

    _Admin = BaseModelAdmin[Any]
else:
    _Admin = object


class NoPopups(_Admin):
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
