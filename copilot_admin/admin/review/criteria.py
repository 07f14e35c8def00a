"""Labels and scores in the admin: a team defines them, and archives those it no longer uses."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.site.site import site
from copilot_admin.models import Criterion


@admin.register(Criterion, site=site)
class CriterionAdmin(BaseAdmin[Criterion]):
    """Labels and scores; a used one is archived instead of deleted, so that reviews keep it."""

    list_display = ("name", "kind", "help", "position", "is_retired")
    list_filter = ("kind", "is_retired")
    search_fields = ("name",)
    search_help_text = _("Name")
    actions = None
    fields = ("name", "kind", "help", "lowest", "highest", "position", "is_retired")
    empty_state: str | Promise = _(
        "No labels yet. Add a label such as “wrong number”, or a score from 1 to 5."
    )

    def get_readonly_fields(
        self, request: HttpRequest, obj: Criterion | None = None
    ) -> tuple[str, ...]:
        """Lock what would change the meaning of earlier reviews."""
        is_used = obj is not None and obj.marks.exists()
        return ("kind", "lowest", "highest") if is_used else ()

    def has_delete_permission(self, request: HttpRequest, obj: Criterion | None = None) -> bool:
        return False
