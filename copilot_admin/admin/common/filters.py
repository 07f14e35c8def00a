"""Filters of change lists that Django doesn't have, and a paginator that doesn't count millions."""

from datetime import date, datetime, time, timedelta
from typing import Any

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

MAX_COUNT = 10_000  # rows that a list counts


class CappedPaginator(Paginator[Any]):
    """Pages of the first rows; counting millions would take seconds."""

    @cached_property
    def count(self) -> int:
        rows: Any = self.object_list
        return len(rows.order_by().values_list("pk")[:MAX_COUNT])


class DateRangeFilter(admin.ListFilter):
    """Two dates, `since` and `until`, in the reader's time zone; a subclass names the column."""

    title = gettext_lazy("date")
    template = "admin/date_filter.html"
    column = ""
    names = ("since", "until")

    def __init__(
        self, request: HttpRequest, params: dict[str, Any], model: Any, model_admin: Any
    ) -> None:
        super().__init__(request, params, model, model_admin)
        for name in self.names:
            value = params.pop(name, None)
            if value:
                self.used_parameters[name] = value[-1] if isinstance(value, list) else value

    def has_output(self) -> bool:
        return True

    def expected_parameters(self) -> list[str | None]:
        return list(self.names)

    def choices(self, changelist: Any) -> Any:
        """Return the values of the inputs, and the other parameters of the URL."""
        rest = {key: value for key, value in changelist.params.items() if key not in self.names}
        values = [self.used_parameters.get(name, "") for name in self.names]
        yield {"values": values, "rest": rest, "is_active": any(values)}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        since, until = (self.used_parameters.get(name) for name in self.names)
        try:
            if since:
                queryset = queryset.filter(**{f"{self.column}__gte": _midnight(since)})
            if until:
                queryset = queryset.filter(**{f"{self.column}__lt": _midnight(until, days=1)})
        except (ValueError, OverflowError):
            return queryset.none()
        return queryset


def _midnight(day: object, *, days: int = 0) -> datetime:
    following = date.fromisoformat(str(day)) + timedelta(days=days)
    return datetime.combine(following, time.min, timezone.get_current_timezone())


class ParameterFilter(admin.SimpleListFilter):
    """Exact value of a column from a link; a chip shows it, with a way to remove it."""

    column = ""

    def lookups(self, request: HttpRequest, model_admin: Any) -> Any:
        value = self.value()
        return [(value, value)] if value else []

    def has_output(self) -> bool:
        return bool(self.value())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        value = self.value()
        return queryset.filter(**{self.column: value}) if value else queryset

    def choices(self, changelist: Any) -> Any:
        for choice in super().choices(changelist):
            yield {**choice, "display": choice["display"] or _("All")}
