"""A table as a file for spreadsheets; nothing in it is taken for a formula."""

from collections.abc import Sequence

from django.http import HttpResponse

from copilot_admin.admin.analytics.cells import FigureCell
from copilot_admin.rendering.csv_safe import format_csv

_MARK = "\ufeff"  # so that spreadsheets read it as UTF-8


def csv_response(
    name: str, columns: Sequence[str], rows: Sequence[Sequence[FigureCell]]
) -> HttpResponse:
    """A table to be saved as a file."""
    text = format_csv([columns, *([cell.raw for cell in row] for row in rows)])
    return HttpResponse(
        _MARK + text,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
