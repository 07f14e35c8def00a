"""A file that a run read, as a line of its transcript."""

from collections.abc import Iterator
from typing import assert_never

from django.template.defaultfilters import filesizeformat
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from copilot_admin.admin.blocks.fields import list_in, text_in
from copilot_admin.admin.blocks.kinds import FileLine
from copilot_admin.agent.documents.document import PageWord
from copilot_admin.agent.documents.registry import format_of
from protocol.json import JsonObject, whole_number_of


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
    pixels = [one for one in map(whole_number_of, list_in(payload, "pixels")) if one is not None]
    if len(pixels) == 2:
        yield _("%(width)d by %(height)d pixels") % {"width": pixels[0], "height": pixels[1]}
    pages = whole_number_of(payload.get("pages"))
    if pages is not None:
        yield from _pages(pages, word=_page_word(kind))
    size = whole_number_of(payload.get("size"))
    if size is not None:
        yield filesizeformat(size)


def _page_word(kind: str) -> PageWord:
    form = format_of(kind)
    return PageWord.NONE if form is None else form.page_word


def _pages(count: int, *, word: PageWord) -> Iterator[str]:
    match word:
        case PageWord.SHEET:
            yield ngettext("%(count)d sheet", "%(count)d sheets", count) % {"count": count}
        case PageWord.NONE if count < 2:
            return
        case PageWord.PAGE | PageWord.NONE:
            yield ngettext("%(count)d page", "%(count)d pages", count) % {"count": count}
        case _:
            assert_never(word)
