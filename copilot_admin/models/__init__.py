"""The schema: copilots and who may ask them, saved questions, transcripts, calls of components.

Doors: what is named here, `access.digest_of` for who looks a key up, `copilots` and `transcripts` for
their limits and names, and `fields` for migrations.
"""

from copilot_admin.models.access import AllowedOrigin, EndpointKey
from copilot_admin.models.components import CallStatus, ComponentCall
from copilot_admin.models.copilots import (
    Access,
    Copilot,
    CopilotVersion,
    Logging,
    Provider,
    VersionProvider,
)
from copilot_admin.models.imports import PendingImport
from copilot_admin.models.questions import (
    AnswerState,
    Judgement,
    SavedAnswer,
    SavedQuestion,
    Side,
)
from copilot_admin.models.transcripts import (
    OTHER_EVENT,
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
    Filling,
    Node,
    NodeKind,
    NodeRole,
    Outcome,
    ReviewState,
    Run,
    Turn,
    TurnState,
    TurnText,
)

__all__ = [
    "OTHER_EVENT",
    "Access",
    "AllowedOrigin",
    "AnswerState",
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
    "Filling",
    "Judgement",
    "Logging",
    "Node",
    "NodeKind",
    "NodeRole",
    "Outcome",
    "PendingImport",
    "Provider",
    "ReviewState",
    "Run",
    "SavedAnswer",
    "SavedQuestion",
    "Side",
    "Turn",
    "TurnState",
    "TurnText",
    "VersionProvider",
]
