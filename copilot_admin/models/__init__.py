"""The schema: copilots, their keys, their transcripts."""

from copilot_admin.models.access import EndpointKey
from copilot_admin.models.components import CallStatus, ComponentCall
from copilot_admin.models.copilots import Access, Copilot, CopilotVersion, Logging, Provider
from copilot_admin.models.transcripts import (
    Blob,
    BlobPart,
    Checkpoint,
    Conversation,
    CostConfidence,
    DailyUsage,
    Event,
    EventType,
    Feedback,
    FeedbackSource,
    Node,
    NodeKind,
    NodeRole,
    Outcome,
    ReviewState,
    Run,
    Turn,
    TurnState,
)

__all__ = [
    "Access",
    "Blob",
    "BlobPart",
    "CallStatus",
    "Checkpoint",
    "ComponentCall",
    "Conversation",
    "Copilot",
    "CopilotVersion",
    "CostConfidence",
    "DailyUsage",
    "EndpointKey",
    "Event",
    "EventType",
    "Feedback",
    "FeedbackSource",
    "Logging",
    "Node",
    "NodeKind",
    "NodeRole",
    "Outcome",
    "Provider",
    "ReviewState",
    "Run",
    "Turn",
    "TurnState",
]
