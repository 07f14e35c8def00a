"""A file that a run read, as a line of its transcript."""

from collections.abc import Iterator

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.blocks.fields import list_in, text_in
from copilot_admin.admin.blocks.kinds import FileLine
from protocol.json import Json, JsonObject

_WORKBOOKS = frozenset({"xlsx", "xls"})
_PAGED = frozenset({"pdf"})


def file_line(payload: JsonObject) -> FileLine:
    """The line of a file; what is stored may be anything."""
    return FileLine(
        name=text_in(payload, "name"),
        facts=tuple(_facts(payload)),
        note=text_in(payload, "note"),
        fault=text_in(payload, "fault"),
    )


def _facts(payload: JsonObject) -> Iterator[str]:
    kind = text_in(payload, "type")
    if kind:
        yield kind.upper()
    pixels = [one for one in map(_count, list_in(payload, "pixels")) if one is not None]
    if len(pixels) == 2:
        yield _("%(width)d by %(height)d pixels") % {"width": pixels[0], "height": pixels[1]}
    pages = _count(payload.get("pages"))
    if pages is not None and kind in _WORKBOOKS:
        yield ngettext("%(count)d sheet", "%(count)d sheets", pages) % {"count": pages}
    elif pages is not None and (kind in _PAGED or pages > 1):
        yield ngettext("%(count)d page", "%(count)d pages", pages) % {"count": pages}
    size = _count(payload.get("size"))
    if size is not None:
        yield filesizeformat(size)


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
