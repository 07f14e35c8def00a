"""Transcripts as a reviewer reads them: plain values, in a constant number of queries."""

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
