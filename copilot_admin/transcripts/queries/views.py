"""A conversation as a reviewer reads it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from protocol.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """One stored message.

    Attributes:
        role: A `NodeRole` value: human, ai, tool.
        kind: A `NodeKind` value: text, call, result.
        text: What was written; "" for calls and results, and where no content is kept.
        data: Of a call `{function, input_arguments}`; of a result `{function, input_arguments,
            data: [...]}`; None for texts, and where no content is kept.
        agent: Who gave the task (an orchestrator) or, of foreign answers, which agent answered.
        from_history: The message was in a request but this server neither answered nor wrote it.
        echo_differs: The client sent this message of ours back in other words.
    """

    node_id: int
    role: str
    kind: str
    text: str
    data: JsonObject | None
    agent: str
    from_history: bool
    echo_differs: bool
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class CallView:
    """A client function call that a run ended in, and what came back for it.

    Attributes:
        arguments: As the client got them; None where no content is kept.
        results: Usually one; none while it is awaited, several when the client asked again.
    """

    function: str
    arguments: JsonObject | None
    echo_differs: bool
    results: tuple[MessageView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventView:
    """Something in a run that is not text.

    Attributes:
        type: An `EventType` value or `OTHER_EVENT`. The payload's shape follows from it: `status`, `artifact`,
            `citation`, `function_call`, `suggestions`, `component` as generation 3 says them on
            the wire (`eventType`, `name`, `chart_params`, ...); `tool` `{name, arguments,
            result}`; `reasoning` `{text}`; of another `{event, data}` when a client could be told
            of it, else `{fact, data}`.
        payload: None where no content is kept.
        text_offset: Characters of the run's answer that came before it.
        at_ms: Milliseconds since the run started.
    """

    ord: int
    type: str
    payload: JsonObject | None
    text_offset: int
    at_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageView:
    """Tokens of one run; `source` is provider, estimated or "" (nobody counted)."""

    input_tokens: int
    cached_tokens: int
    output_tokens: int
    reasoning_tokens: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostView:
    """What something cost, in US dollars.

    Attributes:
        amount: As far as it is known; None: nothing of it is.
        confidence: Of a run a `CostConfidence` value.
        prices: Of a run, by kind, for a million tokens, as they were when it started.
    """

    amount: Decimal | None
    confidence: str
    prices: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One HTTP request and its answer.

    Attributes:
        answer: The text streamed; of a running run what its checkpoints hold.
        echo_differs: The client sent this answer back in other words.
        outcome: An `Outcome` value.
        version: The copilot version's number; None when that version is gone.
        ms: None while running. `ttft_ms` None: no token came.
        received: Function results that came with this request.
        call: The client function call the run ended in.
        has_request: `read_request(id)` has the request's env.
        unread_events: How many more events it has than were read.
    """

    id: UUID
    outcome: str
    version: int | None
    provider: str
    model: str
    generation: int
    params: JsonObject
    started_at: datetime
    ttft_ms: int | None
    ms: int | None
    usage: UsageView
    cost: CostView
    finish_reason: str
    error: str
    error_code: str
    notes: tuple[str, ...]
    received: tuple[MessageView, ...]
    answer: str
    echo_differs: bool
    events: tuple[EventView, ...]
    call: CallView | None
    has_request: bool
    unread_events: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackView:
    """A judgement of a turn; `by_user` False: a reviewer's."""

    is_good: bool
    tags: tuple[str, ...]
    comment: str
    by_user: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """A question and everything that was done to answer it.

    Attributes:
        history: Messages before the question that this server had not seen when they came.
        question: None for a tool result without a question.
        state: A `TurnState` value; a turn that waited for a result for over 30 minutes is
            `abandoned`.
        parent_id: The turn this one follows; None for a first question.
        level: Turns above it: 0 for a first question.
        branch: Place among the questions asked at this point of the conversation, from 1;
            `branches` is their number, 1 when nothing was edited.
        cost: What is known of it; of `n_unpriced` requests nothing is.
        runs: In the order in which they started. A function call splits a turn into two runs; a
            regenerated answer is one more.
    """

    id: int
    history: tuple[MessageView, ...]
    question: MessageView | None
    state: str
    parent_id: int | None
    level: int
    branch: int
    branches: int
    started_at: datetime
    ttft_ms: int | None
    ms: int
    tokens: int
    cost: Decimal
    n_unpriced: int
    cost_is_estimated: bool
    runs: tuple[RunView, ...]
    feedback: tuple[FeedbackView, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationView:
    """A whole conversation.

    Attributes:
        turns: Depth first: every turn after the one it follows, branches in the order asked.
        history: Foreign messages after the last turn that no turn follows (rare).
    """

    id: int
    turns: tuple[TurnView, ...]
    history: tuple[MessageView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnOutline:
    """A turn without its texts; `parent_id`, `level`, `branches` and `state` as of a `TurnView`.

    Attributes:
        head: The beginning of the question.
        size: Characters of question and answers.
        is_running: An answer is being written.
        has_error: An answer ended otherwise than it should.
        n_up: Thumbs up, `n_down` thumbs down, of whoever gave them.
    """

    id: int
    parent_id: int | None
    level: int
    branches: int
    started_at: datetime
    state: str
    head: str
    size: int
    is_running: bool
    has_error: bool
    n_up: int
    n_down: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineView:
    """A whole conversation without its texts.

    Attributes:
        turns: Depth first, as of a `ConversationView`.
        rest: Ids of foreign messages after the last turn that no turn follows (rare).
    """

    id: int
    turns: tuple[TurnOutline, ...]
    rest: tuple[int, ...]
