"""The database schema.

Transcripts: EndUser > Conversation > Node (the tree of messages) > Turn (a question and its answer) >
Run (one HTTP request) > Event. Large and repeated values are Blobs.

A foreign key has no index of its own (`db_index=False`) where another index begins with it. The
remaining ones are needed when the referenced row is deleted.
"""

from copilot_admin.models.access import (
    AllowedOrigin,
    EndpointKey,
    EndUser,
    ExternalAccount,
    HiddenNotice,
    Membership,
    RoleSecurity,
)
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
from copilot_admin.models.conversations import (
    Blob,
    Conversation,
    Node,
    NodeKind,
    NodeRole,
    Outcome,
    ReviewState,
)
from copilot_admin.models.copilots import (
    Access,
    Copilot,
    CopilotVersion,
    Logging,
    PendingImport,
    Provider,
    RerouteApproval,
    VersionProvider,
)
from copilot_admin.models.evaluation import (
    EvaluationResult,
    EvaluationRun,
    PublishGate,
    ResultState,
    ResultVerdict,
    RunState,
    TargetKind,
    TestCase,
)
from copilot_admin.models.exports import ExportPart, ExportState, TranscriptExport
from copilot_admin.models.pricing import ModelPrice
from copilot_admin.models.privacy import Cause, ErasedRun, LegalHold, Removal, RemovalState
from copilot_admin.models.review import (
    Assignment,
    Criterion,
    CriterionKind,
    Feedback,
    FeedbackSource,
    Mark,
    Rating,
    ReviewQueue,
    SavedView,
    SeenKind,
    SeenValue,
    TurnNote,
    Verdict,
)
from copilot_admin.models.runs import (
    OTHER_EVENT,
    CallStatus,
    Checkpoint,
    ComponentCall,
    CostConfidence,
    Event,
    EventType,
    Run,
    Turn,
    TurnState,
    TurnText,
)
from copilot_admin.models.usage import (
    CallerDay,
    CriterionUsage,
    DailyTotal,
    DailyUsage,
    ErrorUsage,
    HourlyUsage,
    LimitRejection,
    LimitScope,
    SubjectLimits,
    ToolKind,
    ToolUsage,
)
