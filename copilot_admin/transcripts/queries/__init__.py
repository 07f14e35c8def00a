"""Transcripts as a reviewer reads them, in a constant number of queries."""

from copilot_admin.transcripts.queries.outline import (
    OutlineView,
    TurnOutline,
    read_outline,
)
from copilot_admin.transcripts.queries.reading import (
    read_conversation,
    read_messages,
    read_request,
    read_turns,
)
from copilot_admin.transcripts.queries.rows import WHOLE, Extent
from copilot_admin.transcripts.queries.tree import Tree, read_tree
from copilot_admin.transcripts.queries.views import (
    Attempt,
    CallView,
    ConversationView,
    EventView,
    MessageView,
    RunView,
    TurnView,
    attempts_of,
)

__all__ = [
    "WHOLE",
    "Attempt",
    "CallView",
    "ConversationView",
    "EventView",
    "Extent",
    "MessageView",
    "OutlineView",
    "RunView",
    "Tree",
    "TurnOutline",
    "TurnView",
    "attempts_of",
    "read_conversation",
    "read_messages",
    "read_outline",
    "read_request",
    "read_tree",
    "read_turns",
]
