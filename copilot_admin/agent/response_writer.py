"""Events of one step: text, reasoning, warnings, and the builder's status updates."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from copilot_admin.agent.client.widget_data import DataPlan, name_of
from copilot_admin.agent.values.answer_request import AnswerRequest
from copilot_admin.agent.values.spec import StepPlace
from copilot_admin.agent.values.turn import fetched_in_turn, widgets_of
from protocol.events import Event, FunctionCall, MessageChunk, StatusLevel, StatusUpdate
from protocol.functions import WIDGET_DATA_FUNCTIONS, data_sources
from protocol.models import Generation, SourceData

# A preamble ("I will look at the price widget.") is a sentence or two that a model writes in well
# under a second. Real answers are longer, and are never delayed for longer than this.
MAX_PREAMBLE_CHARACTERS = 160
MAX_PREAMBLE_SECONDS = 0.5
MAX_NAMES = 5  # of widgets in one status update, which is a line
THINKING = "Thinking about the question"
GAP = MessageChunk("\n\n")


def warning_events(sentence: str) -> tuple[Event, ...]:
    """Return the events that display a sentence in every generation.

    The status is dropped for generation 1, which then still has the chunk. ERROR is never sent:
    clients delete the last question and answer on it.
    """
    return (StatusUpdate(message=sentence, level=StatusLevel.WARNING), MessageChunk(sentence))


class ResponseWriter:
    """Sends text, reasoning, warnings and tool events of one step as events in their order.

    `problems` are sentences about missing files and data. The text is cut at the byte limit.

    A step that ends in a client call sends no text before the call. So while a call may follow, the
    first text is buffered; text that is longer or slower than a preamble is sent.
    """

    def __init__(
        self,
        request: AnswerRequest,
        send: Callable[[Event], None],
        *,
        plan: DataPlan,
        problems: Sequence[str],
    ) -> None:
        self.is_full = False  # the limit is reached
        self.has_content = False  # something other than blanks and status updates was sent
        self._send = send
        self._spec = request.spec
        self._request = request
        self._plan = plan
        self._problems = problems
        self._begins = plan.budget.in_all == 0
        self._is_open = False
        self._has_text = False
        self._round_text: list[str] = []
        self._bytes_left = self._reasoning_bytes_left = request.max_answer_bytes
        self._holds = False
        self._preamble: list[str] = []
        self._preamble_since: float | None = None
        self._reasoning: list[str] = []
        self._deferred: list[str] = []

    @property
    def round_text(self) -> str:
        return "".join(self._round_text)

    def begin_round(self, *, hold: bool) -> None:
        """Begin a model call, which may end in a client call if `hold`."""
        self._round_text = []
        self._holds = hold

    def add_text(self, text: str) -> None:
        """Send the model's next text as far as it can be sent now."""
        text, self._bytes_left = self._cut(text, self._bytes_left)
        self._round_text.append(text)
        if self._holds:
            now = asyncio.get_running_loop().time()
            if self._preamble_since is None:
                self._preamble_since = now
            self._preamble.append(text)
            is_late = now - self._preamble_since >= MAX_PREAMBLE_SECONDS
            if self.is_full or is_late or sum(map(len, self._preamble)) >= MAX_PREAMBLE_CHARACTERS:
                self.flush_preamble()
        elif self._has_text and text and not (self._reasoning or self._deferred):
            self._send_text(text)
        elif text:
            self.write(text)

    def add_reasoning(self, text: str) -> str:
        """Count the model's next reasoning, which has a separate limit, and return what fits."""
        text, self._reasoning_bytes_left = self._cut(text, self._reasoning_bytes_left)
        if self._spec.reasoning_steps and self._spec.show_steps:
            self._reasoning.append(text)
        return text

    def write(self, text: str) -> None:
        """Send text; empty text opens the response."""
        self._open()
        if text:
            self._flush_deferred()
            self._show_reasoning()
            self._has_text = True
            self._send_text(text)

    def write_after_text(self, events: Sequence[Event]) -> None:
        """Send events of a tool after the held text."""
        if events:
            self.write(self._release())
            is_content = any(not isinstance(event, StatusUpdate) for event in events)
            self.has_content = self.has_content or is_content
            self._send_all(events)

    def write_before_call(self, call: FunctionCall) -> None:
        """Send status updates before a client call; never text."""
        if self._begins and not self._is_open:
            self.write_steps(StepPlace.START)
        self._show_reasoning()
        if call.function in WIDGET_DATA_FUNCTIONS:
            sources = data_sources(call.input_arguments)
            widgets = widgets_of(sources, widgets=self._request.query.widgets)
            found = zip(sources, widgets, strict=True)
            names = [name_of(widget) if widget else source.id for source, widget in found]
            more = len(names) - MAX_NAMES
            listed = ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
            self.write_steps(StepPlace.FETCH, about=listed)
        for sentence in self._deferred:
            self._send(StatusUpdate(message=sentence, level=StatusLevel.WARNING))

    def write_steps(self, place: StepPlace, *, about: str = "") -> None:
        """Send the builder's status updates for a place; `about` follows their messages."""
        for step in self._spec.steps if self._spec.show_steps else ():
            if step.at is place:
                details = (step.details,) if step.details else ()
                message = f"{step.message.rstrip(' .:…')}: {about}" if about else step.message
                self._send(StatusUpdate(message=message, level=step.type, details=details))

    def warn(self, sentence: str) -> None:
        self.write(self._release())
        self.write("\n\n" if self.has_content else "")
        self._send_all(warning_events(sentence))

    def defer_warnings(self, sentences: Iterable[str]) -> None:
        """Defer warnings: a client call may follow, and text must not precede it."""
        self._deferred += (one for one in sentences if one not in self._deferred)

    def flush_reasoning(self) -> None:
        """Send reasoning that is not followed by text: a tool runs, or the step ends."""
        if self._reasoning:
            self._open()
            self._show_reasoning()

    def flush_preamble(self) -> None:
        """Send text that was held for a call that did not follow."""
        if text := self._release():
            self.write(text)

    def flush(self) -> None:
        self.flush_preamble()
        self._flush_deferred()
        self.flush_reasoning()

    def _cut(self, text: str, limit: int) -> tuple[str, int]:
        size = len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        if size > limit:
            text = text.encode("utf-8", "replace")[:limit].decode("utf-8", "ignore")
            self.is_full = True
        return text, max(limit - size, 0)

    def _release(self) -> str:
        """Return the held text, and hold nothing more in this round."""
        self._holds = False
        text, self._preamble = "".join(self._preamble), []
        return text

    def _send_text(self, text: str) -> None:
        self.has_content = self.has_content or not text.isspace()
        self._send(MessageChunk(text))

    def _send_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self._send(event)

    def _open(self) -> None:
        if self._is_open:
            return
        self._is_open = True
        if self._begins:
            self.write_steps(StepPlace.START)
        query = self._request.query
        if any(isinstance(one.result, SourceData) for one in fetched_in_turn(query)):
            self.write_steps(StepPlace.READ)
        for problem in self._problems:
            if query.generation is Generation.ONE:
                self._send(MessageChunk(f"{problem}\n\n"))
            else:
                self._send(StatusUpdate(message=problem, level=StatusLevel.WARNING))
        if self._plan.missing:
            self._send_all((*warning_events(self._plan.refusal), GAP))

    def _show_reasoning(self) -> None:
        text, self._reasoning = "".join(self._reasoning).strip(), []
        if text:
            self._send(StatusUpdate(message=THINKING, details=({"Thought": text},)))

    def _flush_deferred(self) -> None:
        deferred, self._deferred = self._deferred, []
        if deferred and self._has_text:
            self._send(GAP)
        for sentence in deferred:
            self._send_all((*warning_events(sentence), GAP))
