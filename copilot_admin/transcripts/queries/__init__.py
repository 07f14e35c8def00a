"""Transcripts in the form for reviewers, read with a constant number of queries."""

from copilot_admin.transcripts.queries.reading import (
    Attempt,
    CallView,
    RunView,
    TurnView,
    attempts_of,
    make_event,
    read_request,
    read_turns,
)
from copilot_admin.transcripts.queries.rows import WHOLE, Extent
from copilot_admin.transcripts.queries.tree import Tree, TurnPlace, read_tree

__all__ = [
    "WHOLE",
    "Attempt",
    "CallView",
    "Extent",
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
