"""Labels and scores in the admin: a team defines them, and retires what it no longer asks for."""

from django.contrib import admin
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from copilot_admin.admin.common.base import BaseAdmin
from copilot_admin.admin.site.site import site
from copilot_admin.models import Criterion


@admin.register(Criterion, site=site)
class CriterionAdmin(BaseAdmin[Criterion]):
    """What was judged with a criterion stays readable: it is retired, not deleted."""

    list_display = ("name", "kind", "help", "position", "is_retired")
    list_filter = ("kind", "is_retired")
    search_fields = ("name",)
    search_help_text = _("Name")
    actions = None
    fields = ("name", "kind", "help", "lowest", "highest", "position", "is_retired")
    empty_state: str | Promise = _(
        "Nothing is judged but good, mixed and bad. Add a label such as “wrong number”, or a score."
    )

    def get_readonly_fields(
        self, request: HttpRequest, obj: Criterion | None = None
    ) -> tuple[str, ...]:
        """Once it is judged with, its kind and its ends would make earlier marks mean something else."""
        is_used = obj is not None and obj.marks.exists()
        return ("kind", "lowest", "highest") if is_used else ()

    def has_delete_permission(self, request: HttpRequest, obj: Criterion | None = None) -> bool:
        return False
