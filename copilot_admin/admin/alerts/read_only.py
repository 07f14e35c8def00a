"""Pages of rows that nobody edits: a list, and a page of its own for each."""

from typing import Any

from django.contrib.admin import ShowFacets
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from copilot_admin.admin.common.base import ReadOnlyAdmin

_OFFERED = ("", "exact", "id__exact", "isnull")  # behind a field


class ReadOnly(ReadOnlyAdmin[Any]):
    """Pages of rows that only the server writes: a list, and a page of facts for each row.

    Attributes:
        page_template: Of a row's page.
    """

    page_template: str
    list_per_page = 50
    show_facets = ShowFacets.NEVER
    actions = None

    def facts(self, request: HttpRequest, row: Any) -> dict[str, Any]:
        """What the page of a row shows."""
        raise NotImplementedError

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        if request.method == "POST" or not self.has_view_permission(request):
            raise PermissionDenied
        row = self._row(request, object_id)
        context = {
            **self.page_context(request, str(row)),
            **self.facts(request, row),
        }
        return TemplateResponse(request, self.page_template, context)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        field, _, how = lookup.partition("__")
        return field in ("state", "event", "rule", "webhook") and how in _OFFERED

    def _row(self, request: HttpRequest, object_id: str) -> Any:
        try:
            row = self.get_object(request, object_id)
        except ValidationError as error:
            raise Http404 from error
        if row is None:
            raise Http404
        return row
