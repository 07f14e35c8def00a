"""The filter that a figure links to: what it has counted."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.transcripts.filters.filter import (
    FilterControl,
    Index,
    NoSuchValue,
    TranscriptFilter,
)
from copilot_admin.transcripts.search.counted import counted_condition
from copilot_admin.transcripts.search.counted_words import counted_words


def _counted(text: str) -> Q:
    try:
        return counted_condition(text)
    except ValueError as error:
        raise NoSuchValue(text) from error


COUNTED = TranscriptFilter(
    name="counted",
    label=_("Counted"),
    widget=FilterControl.LINKED,
    condition=_counted,
    in_words=counted_words,
    index=Index.OWN,
)
