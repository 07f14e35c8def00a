"""Tags of the component style sheet; every template has them without `load`."""

from collections.abc import Iterable, Iterator
from typing import Any

from django import template
from django.contrib.admin.templatetags.admin_list import result_headers, results
from django.contrib.admin.views.main import ChangeList
from django.utils.safestring import SafeString, mark_safe

from copilot_admin.admin.common.widgets import chip, format_time, icon

register = template.Library()
register.simple_tag(icon)
register.simple_tag(chip)
register.filter("ca_time", format_time)

# Columns of a ModelAdmin's `columns`: right-aligned numbers, the column that takes the free
# width, and columns that narrow lists leave out.
_ATTRIBUTES = {
    "num": ('class="', 'class="ca-num '),
    "grow": ('class="', 'class="ca-table__grow '),
    "wrap": ('class="', 'class="ca-wrap '),
    "medium": ("class=", 'data-column="medium" class='),
    "wide": ("class=", 'data-column="wide" class='),
}


@register.filter
def initials(user: object) -> str:
    name = getattr(user, "get_full_name", str)() or getattr(user, "username", "")
    words = name.replace(".", " ").replace("_", " ").replace("@", " ").split()
    return "".join(word[0] for word in words[:2]).upper()


@register.inclusion_tag("admin/change_list_results.html")
def ca_result_list(cl: ChangeList) -> dict[str, Any]:
    """Draw the table of a change list, with the looks that `columns` gives its columns."""
    kinds = getattr(cl.model_admin, "columns", {})
    names = [str(name) for name in cl.list_display]
    headers = list(result_headers(cl))
    for name, header in zip(names, headers, strict=True):
        header["looks"] = kinds.get(name, "").split()
    return {
        "cl": cl,
        "headers": headers,
        "rows": [_cells(row, names, kinds) for row in results(cl)],
    }


def _cells(row: Iterable[str], names: list[str], kinds: dict[str, str]) -> Iterator[SafeString]:
    for name, cell in zip(names, row, strict=False):
        text = str(cell)
        for look in kinds.get(name, "").split():
            text = text.replace(*_ATTRIBUTES[look], 1)
        yield mark_safe(text)  # noqa: S308  # Django's own cells, escaped by Django


@register.filter
def active_choice(choices: Iterable[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the chosen choice of a list filter; None if it is the first one, which is "All"."""
    rows = list(choices)
    return next((row for row in rows[1:] if row["selected"]), None)
