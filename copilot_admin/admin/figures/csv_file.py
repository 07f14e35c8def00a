"""A table as a file for spreadsheets; nothing in it is taken for a formula."""

from collections.abc import Sequence
import csv
from io import StringIO

from django.http import HttpResponse

from copilot_admin.admin.figures.cells import Cell
from copilot_admin.rendering.no_formula import no_formula

_MARK = "\ufeff"  # so that spreadsheets read it as UTF-8


def csv_response(name: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> HttpResponse:
    """A table to be saved as a file."""
    text = StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([no_formula(column) for column in columns])
    writer.writerows([[no_formula(cell.raw) for cell in row] for row in rows])
    return HttpResponse(
        _MARK + text.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )
