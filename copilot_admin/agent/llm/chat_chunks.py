"""Reads the chunks of a streamed chat completion into deltas.

Source: the chat completions API of OpenAI, with what other servers make of it.
"""

from collections.abc import Iterable, Sequence
import json

from copilot_admin.agent.llm.data_lines import DONE, ErrorData
from copilot_admin.agent.llm.lenient_json import leniently_parsed
from copilot_admin.agent.llm.provider_errors import broke_off, not_understood, nothing_came
from copilot_admin.agent.llm.token_usage import is_cut, usage_in
from copilot_admin.agent.llm.tool_call_fragments import ToolFragments
from copilot_admin.agent.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    ReasoningDelta,
    TextDelta,
    Usage,
    estimated_usage,
)
from copilot_admin.errors import ProviderBroke
from protocol.json import Json, JsonObject
from protocol.json_tokens import has_more_tokens

# Of one chunk, counted as those of a body are. A megabyte holds 200,000 calls of tools with nothing in
# them (two million), which take 90 ms; of an answer with the weights of all its tokens it has 430,000.
_MOST_VALUES = 500_000
_SURELY_FEW = 48 * 1024  # bytes, of which each counts as ten values at most
_NO_ERRORS = (None, "", 0, "0", 200, "200")  # as a code
_LONGEST_REASON = 50  # characters, as many as are kept


class StreamError(Exception):
    """The error object that a provider put into its stream."""

    def __init__(self, error: Json) -> None:
        super().__init__("error in the stream")
        self.error = error


class ChunkReader:
    """Folds the chunks of one answer.

    Attributes:
        done: The provider said that nothing more comes.
        began: Some of the answer came, shown or not.
    """

    def __init__(self) -> None:
        self.done = False
        self.began = False
        self._usage: Usage | None = None
        self._characters = 0  # of the answer, to estimate its tokens
        self._reason: str | None = None
        self._choice: int | None = None  # the one that is read: the first that came with a number
        self._tools = ToolFragments()
        self._has_calls = False
        self._is_in_pieces = False  # what was said came as deltas
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._half = ""  # a surrogate whose other half is in the next chunk

    def read(self, payloads: Iterable[bytes]) -> list[Delta]:
        """Returns the deltas of some chunks; text that arrived together is one delta.

        Raises:
            StreamError: A chunk is an error object.
            RunError: A chunk is not JSON, no object, or one call of a tool too many. What the
                chunks before it said is left to `rest`.
        """
        for payload in payloads:
            if isinstance(payload, ErrorData):
                raise StreamError(_error_in(payload))
            if not payload.startswith(b"{") and payload.strip() == DONE:
                self.done = True
                break
            self._read_chunk(_parsed(payload))
        return self._flush()

    def read_last(self, payloads: Sequence[bytes]) -> list[Delta]:
        """Like `read`, at the end of the body: an event that broke off there says nothing.

        Raises:
            StreamError: A chunk is an error object.
            RunError: As in `read`, where nothing came before; or what came broke off.
        """
        try:
            return self.read(payloads)
        except ProviderBroke:
            if self.began:
                return self._flush()
            if any(map(_is_half, payloads)):
                raise broke_off() from None
            raise

    def rest(self) -> list[Delta]:
        """Returns what was read before a chunk that could not be."""
        return self._flush()

    def end(self, call: ModelCall) -> list[Delta]:
        """Returns what is known only at the end of the stream: tool calls, usage, the finish.

        A stream that ended without saying so may have ended anywhere, so its tool calls are not
        to be trusted.

        Raises:
            ProviderBroke: The stream said nothing at all.
        """
        reason = self._reason or ("stop" if self.done else None)
        calls = self._tools.calls() if reason else ()
        if not (self._reason or self._characters or calls or (self.began and not self.done)):
            raise nothing_came()
        half = (TextDelta(_mended(self._half)),) if self._half else ()
        return [
            *half,
            *calls,
            self._usage or estimated_usage(call, written=self._characters),
            Finish(reason),
        ]

    @property
    def said_why(self) -> bool:
        """Whether the provider said that the answer is whole, or why it is not."""
        return self.done or self._reason is not None

    def _read_chunk(self, chunk: JsonObject) -> None:
        if chunk.get("error"):
            raise StreamError(chunk["error"])
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices:
            for choice in choices:
                if self._is_ours(choice):
                    self._read_choice(choice)
                    break
        elif _is_error(chunk):
            raise StreamError(chunk)
        usage = chunk.get("usage")
        if isinstance(usage, dict):  # some servers send it with every chunk, growing
            self._usage = usage_in(usage) or self._usage

    def _is_ours(self, choice: Json) -> bool:
        if not isinstance(choice, dict):
            return False
        number = choice.get("index")
        if not isinstance(number, int):
            return True
        if self._choice is None:
            self._choice = number
        return number == self._choice

    def _read_choice(self, choice: JsonObject) -> None:
        # A server that was asked to stream and does not sends a whole `message`, and some send the
        # pieces as that; one that streams may send it at the end once more.
        piece = choice.get("delta")
        delta = piece or (None if self._is_in_pieces else choice.get("message"))
        if isinstance(delta, dict):
            content = delta.get("content")
            if isinstance(content, str):
                self._say(content)
            if len(delta) > 1 or not isinstance(content, str):
                self._read_rest(delta)
            if piece and not self._is_in_pieces:
                self._is_in_pieces = self._has_calls or bool(self._characters or self._text)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason and not is_cut(self._reason):
            self._reason = reason[:_LONGEST_REASON]

    def _read_rest(self, delta: JsonObject) -> None:
        content = delta.get("content")
        for part in content if isinstance(content, list) else (content,):
            if isinstance(part, dict):
                self._read_part(part)
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            self._say(refusal)
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            self._think(thought)
        fragments = delta.get("tool_calls")
        if isinstance(fragments, dict):
            fragments = [fragments]
        if isinstance(fragments, list) and fragments:
            self.began = self._has_calls = True
            for fragment in fragments:
                self._tools.add(fragment)
        function = delta.get("function_call")  # before tool calls there was one function
        if isinstance(function, dict) and not self._has_calls:  # some servers send both
            self._tools.add({"index": 0, "function": function})

    def _read_part(self, part: JsonObject) -> None:
        if isinstance(part.get("text"), str):
            self._say(str(part["text"]))
        thoughts = part.get("thinking")
        for thought in thoughts if isinstance(thoughts, list) else (thoughts,):
            text = thought.get("text") if isinstance(thought, dict) else thought
            if isinstance(text, str):
                self._think(text)

    def _think(self, text: str) -> None:
        self.began = self.began or bool(text)
        self._thoughts.append(text)

    def _say(self, text: str) -> None:
        if text:
            self.began = True
            self._text.append(text)

    def _flush(self) -> list[Delta]:
        deltas: list[Delta] = []
        if self._thoughts:
            deltas.append(ReasoningDelta(_mended("".join(self._thoughts))))
            self._thoughts = []
        if self._text:
            text = self._half + "".join(self._text) if self._half else "".join(self._text)
            self._text, self._half = [], ""
            if not text.isascii():
                text, self._half = _whole_characters(text)
            if text:
                self._characters += len(text)
                deltas.append(TextDelta(text))
        return deltas


def _is_error(chunk: JsonObject) -> bool:
    if "error" in (chunk.get("object"), chunk.get("type")):
        return True
    is_other = "choices" not in chunk and "usage" not in chunk
    has_code = isinstance(chunk.get("message"), str) and chunk.get("code") not in _NO_ERRORS
    return is_other and (has_code or isinstance(chunk.get("detail"), str))


def _error_in(payload: bytes) -> Json:
    try:
        said = leniently_parsed(payload)
    except ValueError:
        said = payload.decode("utf-8", "replace")
    return (said.get("error") or said) if isinstance(said, dict) else said


def _is_half(payload: bytes) -> bool:
    text = payload.decode("utf-8", "replace").lstrip()
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return text.startswith("{")
    return False


def _parsed(payload: bytes) -> JsonObject:
    if len(payload) > _SURELY_FEW and has_more_tokens(payload, _MOST_VALUES):
        raise not_understood(payload)
    try:
        chunk = leniently_parsed(payload)
    except ValueError:
        if not payload.strip():
            return {}  # the sign of life of some servers
        raise not_understood(payload) from None
    if not isinstance(chunk, dict):
        raise not_understood(payload)
    return chunk


def _whole_characters(text: str) -> tuple[str, str]:
    half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    return _mended(text[: len(text) - len(half)]), half


def _mended(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
