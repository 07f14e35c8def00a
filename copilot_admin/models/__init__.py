"""The schema: copilots and who may ask them, saved questions, transcripts, calls of components.

Doors: what is named here, `access.digest_of` for who looks a key up, `copilots`, `prices`, `reviewing`
and `transcripts` for their limits and names, and `fields` for migrations.
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
from copilot_admin.models.prices import ModelPrice
from copilot_admin.models.questions import (
    AnswerState,
    Judgement,
    SavedAnswer,
    SavedQuestion,
    Side,
)
from copilot_admin.models.review import (
    Criterion,
    CriterionKind,
    Mark,
    Rating,
    ReviewQueue,
    Seat,
    TurnNote,
    Verdict,
)
from copilot_admin.models.reviewing import SavedView
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
    SeenKind,
    SeenValue,
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
    "Criterion",
    "CriterionKind",
    "DailyUsage",
    "EndpointKey",
    "Event",
    "EventType",
    "Feedback",
    "FeedbackSource",
    "Filling",
    "Judgement",
    "Logging",
    "Mark",
    "ModelPrice",
    "Node",
    "NodeKind",
    "NodeRole",
    "Outcome",
    "PendingImport",
    "Provider",
    "Rating",
    "ReviewQueue",
    "ReviewState",
    "Run",
    "SavedAnswer",
    "SavedQuestion",
    "SavedView",
    "Seat",
    "SeenKind",
    "SeenValue",
    "Side",
    "Turn",
    "TurnNote",
    "TurnState",
    "TurnText",
    "Verdict",
    "VersionProvider",
]
