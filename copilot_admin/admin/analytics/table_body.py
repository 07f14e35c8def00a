"""The rows of a table of figures as HTML: a year has ten thousand cells, and a template takes long for each."""

from collections.abc import Iterable, Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from copilot_admin.admin.analytics.cells import FigureCell


def body_of(rows: Iterable[Sequence[FigureCell]]) -> SafeString:
    """The rows; the first cell of each names it, and all texts are escaped."""
    return mark_safe("".join(map(_row, rows)))  # noqa: S308  # each cell escapes its own


def _row(cells: Sequence[FigureCell]) -> str:
    first, *others = cells
    return f'<tr><th scope="row">{_content(first)}</th>{"".join(map(_cell, others))}</tr>\n'


def _cell(cell: FigureCell) -> str:
    place = ' class="ca-number" dir="ltr"' if cell.is_number else ""
    return f"<td{place}>{_content(cell)}</td>"


def _content(cell: FigureCell) -> str:
    text = f"<bdi>{escape(cell.text)}</bdi>"
    return f'<a href="{escape(cell.url)}">{text}</a>' if cell.url else text
