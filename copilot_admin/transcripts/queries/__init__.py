"""Transcripts in the form for reviewers, read with a constant number of queries."""

from copilot_admin.transcripts.queries.reading import make_event, read_request, read_turns
from copilot_admin.transcripts.queries.rows import WHOLE, Extent
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace, read_tree
from copilot_admin.transcripts.queries.views import (
    Attempt,
    CallView,
    MessageView,
    RunView,
    TurnView,
    attempts_of,
)

__all__ = [
    "WHOLE",
    "Attempt",
    "CallView",
    "Extent",
    "MessageView",
    "RunView",
    "Tree",
    "TurnPlace",
    "TurnView",
    "attempts_of",
    "make_event",
    "read_request",
    "read_tree",
    "read_turns",
]
