"""Pages of the admin whose changes stand in the audit trail, those of stock views by themselves.

A class that is derived from it needs nothing more for what Django's own views add, change and delete.
A view of its own calls `audit` as the last statement of the transaction of its change.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.contrib.admin import ModelAdmin
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.core.exceptions import BadRequest, ValidationError
from django.db import transaction
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from copilot_admin.admin.common.chosen_rows import ChosenRows
from copilot_admin.admin.common.form_fields import check_unturned
from copilot_admin.admin.common.gone import GoneRows
from copilot_admin.admin.common.guarded_lookups import GuardedLookups
from copilot_admin.audit.changes import Snapshot, snapshot
from copilot_admin.audit.parties import Actor, Subject
from copilot_admin.audit.recording import record
from copilot_admin.models import Action

Row = TypeVar("Row", bound=Model)
_NAMES = frozenset({"name", "username"})

if TYPE_CHECKING:

    class _Admin(ModelAdmin[Row]):
        """Django's class with its type of row, for the type checker."""
else:

    class _Admin(ModelAdmin, Generic[Row]):
        """Django's class, which is generic for the type checker alone."""


class AuditedAdmin(GoneRows, GuardedLookups, _Admin[Row]):
    """Adds an entry for each row that is added, changed or deleted; none where nothing differs."""

    def audit(
        self,
        request: HttpRequest,
        action: Action,
        row: Model,
        *,
        before: Mapping[str, object] | None = None,
        after: Mapping[str, object] | None = None,
    ) -> None:
        """Says in the trail what a view of one's own has done to a row."""
        by = Actor.of(request)
        record(action, by=by, on=Subject.of(row), before=before, after=after)

    def page_context(self, request: HttpRequest, title: str) -> dict[str, Any]:
        """What every page of these rows shows around what is its own."""
        return {**self.admin_site.each_context(request), "title": title, "opts": self.opts}

    def get_object(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        row = super().get_object(request, *args, **kwargs)
        if row is not None and request.method == "POST":
            _kept(request)[_key(row)] = stored(row)
        return row

    def formfield_for_dbfield(self, db_field: Any, request: Any, **options: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **options)
        if field is not None and db_field.name in _NAMES:
            field.validators.append(check_unturned)
        return field

    def formfield_for_manytomany(self, db_field: Any, request: Any, **options: Any) -> Any:
        options = {"form_class": ChosenRows, **options}
        return super().formfield_for_manytomany(db_field, request, **options)

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        logged = super().log_addition(request, obj, message)
        self.audit(request, Action.ADDED, obj, after=stored(obj))
        return logged

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        logged = super().log_change(request, obj, message)
        before = _kept(request).pop(_key(obj), None)
        if before is not None and before != (after := stored(obj)):
            self.audit(request, self.action_of(before, after), obj, before=before, after=after)
        return logged

    def log_deletions(self, request: HttpRequest, queryset: Any) -> Any:
        """Django's history, and an entry for each row that goes."""
        logged = super().log_deletions(request, queryset)
        for row in queryset:
            self.audit(request, Action.DELETED, row, before=stored(row))
        return logged

    def action_of(self, before: Snapshot, after: Snapshot) -> Action:
        """The action as which the audit trail has a change."""
        return Action.CHANGED

    def response_action(self, request: HttpRequest, queryset: QuerySet[Any], *args: Any) -> Any:
        """What is done with chosen rows is done, and told of, in one transaction.

        Raises:
            BadRequest: What was chosen can be no row: no page sends this.
        """
        key = queryset.model._meta.pk
        try:
            for chosen in request.POST.getlist(ACTION_CHECKBOX_NAME):
                key.clean(chosen, None)
        except ValidationError as error:
            raise BadRequest("a chosen row is none") from error
        with transaction.atomic():
            return super().response_action(request, queryset, *args)


def stored(row: Model) -> Snapshot:
    """How a row is stored: a form may have put into it what is only wanted."""
    return snapshot(type(row)._base_manager.get(pk=row.pk))


def _kept(request: HttpRequest) -> dict[tuple[str, object], Snapshot]:
    kept: dict[tuple[str, object], Snapshot] = vars(request).setdefault("audited_before", {})
    return kept


def _key(row: Model) -> tuple[str, object]:
    return row._meta.label, row.pk
