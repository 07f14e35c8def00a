"""Parts of a conversation in the form for reviewers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias
from uuid import UUID

from copilot_admin.models import Event, Feedback, Run, Turn
from copilot_admin.transcripts.queries.tree import TurnPlace
from protocol.json import JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageView:
    """One stored message.

    Attributes:
        role: A `NodeRole` value: human, ai, tool.
        kind: A `NodeKind` value: text, call, result.
        text: "" for calls and results, and if no content is stored.
        data: Of a call `{function, input_arguments}`; of a result `{function, input_arguments,
            data: [...]}`; None for texts, and if no content is stored.
        from_history: The message was in a request, but this server neither answered nor wrote it.
        echo_differs: The client sent this message of ours back with different text.
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
    """A client function call that a run ended in, and its results.

    Attributes:
        arguments: As the client received them; None if no content is stored.
        results: Usually one; empty while it is awaited, several if the client repeated the request.
    """

    function: str
    arguments: JsonObject | None
    echo_differs: bool
    results: tuple[MessageView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """One HTTP request and its answer.

    Attributes:
        row: Its columns.
        received: Function results in this request.
        answer: The text streamed; of a running run that of its checkpoints.
        echo_differs: The client sent this answer back with different text.
        events: Output other than text, with the payloads that are stored separately. The form of a
            payload follows from the type: `status`, `artifact`, `citation`, `function_call`,
            `suggestions`, `component` as generation 3 has them on the wire (`eventType`, `name`,
            `chart_params`, ...); `tool` `{name, arguments, result}`; `reasoning` `{text}`; of another
            `{event, data}` if it was sent to a client, else `{fact, data}`.
        call: The client function call that the run ended in.
        unread_events: Number of further events that were not read.
    """

    row: Run
    received: tuple[MessageView, ...] = ()
    answer: str = ""
    echo_differs: bool = False
    events: tuple[Event, ...] = ()
    call: CallView | None = None
    unread_events: int = 0

    @property
    def id(self) -> UUID:
        return self.row.pk

    @property
    def version(self) -> int | None:
        """The number of the copilot version; None if it was deleted."""
        return self.row.copilot_version.number if self.row.copilot_version else None

    @property
    def prices(self) -> dict[str, Decimal]:
        """US dollars for a million tokens by kind, as they were when the run started."""
        kinds = ("input", "cached", "output", "reasoning")
        prices = {kind: getattr(self.row, f"{kind}_price") for kind in kinds}
        return {kind: price for kind, price in prices.items() if price is not None}

    @property
    def has_request(self) -> bool:
        """True if `read_request` has the request."""
        return self.row.env_id is not None


Attempt: TypeAlias = tuple[RunView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnView:
    """A question and all runs that answered it.

    Attributes:
        history: Messages before the question that were new to this server with this turn.
        question: None for a tool result without a question.
        runs: In the order in which they started. A function call splits a turn into two runs; a
            regenerated answer is one more.
    """

    place: TurnPlace
    history: tuple[MessageView, ...] = ()
    question: MessageView | None = None
    runs: tuple[RunView, ...]
    feedback: Sequence[Feedback] = ()

    @property
    def id(self) -> int:
        return self.place.id

    @property
    def row(self) -> Turn:
        return self.place.turn

    @property
    def state(self) -> str:
        """A `TurnState` value; a turn that waited for over 30 minutes is `abandoned`."""
        return self.place.state


def attempts_of(runs: Sequence[RunView]) -> tuple[Attempt, ...]:
    """Group the runs of a turn into attempts, in the order in which these began.

    A run with the result of a call continues the attempt of the call. If another run did
    so before, the answer after the call was regenerated: that is another attempt with the same
    beginning. A run without a result starts from the question again.
    """
    attempts: list[Attempt] = []
    for run in runs:
        for place, attempt in reversed(list(enumerate(attempts))):
            calling = _find_calling_run(attempt, run)
            if calling is None:
                continue
            if calling == len(attempt) - 1:
                attempts[place] = (*attempt, run)
            else:
                attempts.append((*attempt[: calling + 1], run))
            break
        else:
            attempts.append((run,))
    return tuple(attempts)


def _find_calling_run(attempt: Attempt, run: RunView) -> int | None:
    brought = {message.node_id for message in run.received}
    for place, earlier in reversed(list(enumerate(attempt))):
        if earlier.call and brought & {result.node_id for result in earlier.call.results}:
            return place
    return None
