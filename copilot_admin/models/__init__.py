"""The schema: copilots and who may ask them, saved questions, transcripts, calls of components.

Of transcripts: EndUser > Conversation > Node (the tree of messages) > Turn (a question and its answer) >
Run (one HTTP request) > Event. Big and repeated things are Blobs.

A foreign key has no index of its own (`db_index=False`) where another index begins with it. Those
that remain are needed at a deletion, when the database looks for what refers to a row.

Doors: what is named here, `access.digest_of` for who looks a key up, `alerts`, `audit`, `conversations`, `copilots`, `end_users`, `imports`, `limits`, `people`,
`prices`, `privacy`, `questions`, `replays`, `reviewing` and `usage` for their limits and names, `natural_order` for lists of names, and `fields` for migrations.
"""

from copilot_admin.models.access import AllowedOrigin, EndpointKey
from copilot_admin.models.alerts import (
    Alert,
    AlertDelivery,
    AlertDigest,
    AlertRule,
    AlertWebhook,
    DeliveryEvent,
    DeliveryState,
)
from copilot_admin.models.audit import Action, AuditCursor, AuditEntry, AuditHead
from copilot_admin.models.blobs import Blob, BlobPart
from copilot_admin.models.components import CallStatus, ComponentCall
from copilot_admin.models.conversations import Conversation, ReviewState
from copilot_admin.models.copilots import (
    Access,
    Copilot,
    CopilotVersion,
    Logging,
    Provider,
    VersionProvider,
)
from copilot_admin.models.end_users import EndUser
from copilot_admin.models.events import OTHER_EVENT, Checkpoint, Event, EventType
from copilot_admin.models.exports import ExportPart, ExportState, TranscriptExport
from copilot_admin.models.feedback import Feedback, FeedbackSource
from copilot_admin.models.imports import PendingImport
from copilot_admin.models.limits import LimitRejection, LimitScope, SubjectLimits
from copilot_admin.models.nodes import Node, NodeKind, NodeRole
from copilot_admin.models.outcomes import Outcome
from copilot_admin.models.people import ExternalAccount, LogIn, Membership
from copilot_admin.models.prices import ModelPrice
from copilot_admin.models.privacy import (
    Cause,
    ErasedRun,
    LegalHold,
    Removal,
    RemovalState,
)
from copilot_admin.models.questions import (
    AnswerState,
    Judgement,
    RecordedAnswer,
    SavedAnswer,
    SavedQuestion,
    Side,
)
from copilot_admin.models.replays import (
    Baseline,
    Replay,
    ReplayAnswer,
    ReplayState,
    ReplayTarget,
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
from copilot_admin.models.runs import CostConfidence, Run
from copilot_admin.models.seen import SeenKind, SeenValue
from copilot_admin.models.turns import Turn, TurnState, TurnText
from copilot_admin.models.usage import (
    CallerDay,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    HourlyUsage,
)

__all__ = [
    "OTHER_EVENT",
    "Access",
    "Action",
    "Alert",
    "AlertDelivery",
    "AlertDigest",
    "AlertRule",
    "AlertWebhook",
    "AllowedOrigin",
    "AnswerState",
    "AuditCursor",
    "AuditEntry",
    "AuditHead",
    "Baseline",
    "Blob",
    "BlobPart",
    "CallStatus",
    "CallerDay",
    "Cause",
    "Checkpoint",
    "ComponentCall",
    "Conversation",
    "Copilot",
    "CopilotVersion",
    "CostConfidence",
    "Criterion",
    "CriterionKind",
    "CriterionUsage",
    "DailyTotal",
    "DailyUsage",
    "DeliveryEvent",
    "DeliveryState",
    "EndUser",
    "EndpointKey",
    "ErasedRun",
    "ErrorUsage",
    "Event",
    "EventType",
    "ExportPart",
    "ExportState",
    "ExternalAccount",
    "Feedback",
    "FeedbackSource",
    "HourlyUsage",
    "Judgement",
    "LegalHold",
    "LimitRejection",
    "LimitScope",
    "LogIn",
    "Logging",
    "Mark",
    "Membership",
    "ModelPrice",
    "Node",
    "NodeKind",
    "NodeRole",
    "Outcome",
    "PendingImport",
    "Provider",
    "Rating",
    "RecordedAnswer",
    "Removal",
    "RemovalState",
    "Replay",
    "ReplayAnswer",
    "ReplayState",
    "ReplayTarget",
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
    "SubjectLimits",
    "TranscriptExport",
    "Turn",
    "TurnNote",
    "TurnState",
    "TurnText",
    "Verdict",
    "VersionProvider",
]
