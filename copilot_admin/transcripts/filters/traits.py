"""Filters by what a conversation has in it."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from copilot_admin.transcripts.filters.choices import one_of
from copilot_admin.transcripts.filters.filter import FilterControl, Index, TranscriptFilter

TRAITS: tuple[TranscriptFilter, ...] = tuple(
    TranscriptFilter(
        name=name,
        label=label,
        widget=FilterControl.CHOICE,
        condition=one_of(yes=Q(**{f"has_{name}": True}), no=Q(**{f"has_{name}": False})),
        choices=lambda: [("yes", _("Yes")), ("no", _("No"))],
        index=Index.ORDER,
        common=frozenset({"no"}),
        is_cheap=True,
    )
    for name, label in (
        ("call", _("Calls of the client")),
        ("branch", _("Branches")),
        ("file", _("Files")),
    )
)
