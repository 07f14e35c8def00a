"""Transcripts as a reviewer reads them: plain values, in a constant number of queries.

In comes a conversation, out come views of it; in comes a run, out comes its request. Doors: what is named here.
"""

from copilot_admin.reading.conversations import read_conversation, read_request
from copilot_admin.reading.views import (
    CallView,
    ConversationView,
    EventView,
    MessageView,
    RunView,
    TurnView,
    UsageView,
)

__all__ = [
    "CallView",
    "ConversationView",
    "EventView",
    "MessageView",
    "RunView",
    "TurnView",
    "UsageView",
    "read_conversation",
    "read_request",
]
