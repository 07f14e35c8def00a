"""Transcripts as a reviewer reads them: plain values, in a constant number of queries.

In comes a conversation, out come views of it; in comes a run, out comes its request. Doors: what is named here.
"""

from copilot_admin.transcripts.queries.attempts import Attempt, attempts_of
from copilot_admin.transcripts.queries.conversations import (
    Together,
    read_conversation,
    read_messages,
    read_request,
    read_turns,
)
from copilot_admin.transcripts.queries.extent import WHOLE, Extent
from copilot_admin.transcripts.queries.outline import read_outline
from copilot_admin.transcripts.queries.tree import Tree, read_tree
from copilot_admin.transcripts.queries.views import (
    CallView,
    ConversationView,
    CostView,
    EventView,
    MessageView,
    OutlineView,
    RunView,
    TurnOutline,
    TurnView,
    UsageView,
)

__all__ = [
    "WHOLE",
    "Attempt",
    "CallView",
    "ConversationView",
    "CostView",
    "EventView",
    "Extent",
    "MessageView",
    "OutlineView",
    "RunView",
    "Together",
    "Tree",
    "TurnOutline",
    "TurnView",
    "UsageView",
    "attempts_of",
    "read_conversation",
    "read_messages",
    "read_outline",
    "read_request",
    "read_tree",
    "read_turns",
]
