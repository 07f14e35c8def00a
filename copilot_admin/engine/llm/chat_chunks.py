"""Reads the chunks of a streamed chat completion into deltas.

Source: the chat completions API of OpenAI, with what other servers make of it.
"""

from collections.abc import Iterable, Mapping, Sequence
import json

import orjson

from copilot_admin.engine.llm.endings import is_cut
from copilot_admin.engine.llm.foreign_answers import broke_off, not_understood, nothing_came
from copilot_admin.engine.llm.fragments import ToolFragments
from copilot_admin.engine.values.model_call import (
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
from protocol.strict_json import has_more_tokens

DONE = b"[DONE]"
# A billion tokens are more than any model reads; the sum of all rounds fits every database.
_MOST_TOKENS = 10**9
# Of one chunk, counted as those of a body are. A megabyte holds 200,000 calls of tools with nothing in
# them (two million), which take 90 ms; of an answer with the weights of all its tokens it has 430,000.
_MOST_VALUES = 500_000
_SURELY_FEW = 48 * 1024  # bytes, of which each counts as ten values at most
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
            if payload == DONE or (payload[:1] != b"{" and payload.strip() == DONE):
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
            if any(one.lstrip().startswith(b"{") for one in payloads):
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
            choice = next(filter(self._is_ours, choices), None)
            if choice is not None:
                self._read_choice(choice)
        elif chunk.get("object") == "error":  # an error of vLLM is the chunk itself
            raise StreamError(chunk)
        usage = chunk.get("usage")
        if isinstance(usage, dict):  # some servers send it with every chunk, growing
            self._usage = _usage(usage) or self._usage

    def _is_ours(self, choice: Json) -> bool:
        """Whether it is of the one answer that was asked for; some servers give several at once."""
        if not isinstance(choice, dict):
            return False
        number = choice.get("index")
        if not isinstance(number, int):
            return True
        if self._choice is None:
            self._choice = number
        return number == self._choice

    def _read_choice(self, choice: JsonObject) -> None:
        # A server that was asked to stream and does not sends a whole `message`.
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, dict):
            content = delta.get("content")
            if isinstance(content, str):
                self._say(content)
            if len(delta) > 1 or not isinstance(content, str):
                self._read_rest(delta)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason and not is_cut(self._reason):
            self._reason = reason[:_LONGEST_REASON]

    def _read_rest(self, delta: JsonObject) -> None:
        """Everything in a delta but plain text, which is nearly all there ever is."""
        content = delta.get("content")
        if isinstance(content, list):
            for part in content:
                if isinstance(part, dict) and isinstance(part.get("text"), str):
                    self._say(str(part["text"]))
        refusal = delta.get("refusal")
        if isinstance(refusal, str):
            self._say(refusal)
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if isinstance(thought, str):
            self.began = self.began or bool(thought)
            self._thoughts.append(thought)
        fragments = delta.get("tool_calls")
        if isinstance(fragments, list):
            self.began = self.began or bool(fragments)
            for fragment in fragments:
                self._tools.add(fragment)
        if isinstance(delta.get("function_call"), dict):  # before tool calls there was one function
            self._tools.add({"index": 0, "function": delta["function_call"]})

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


def leniently_parsed(payload: bytes) -> Json:
    """Reads also what strict JSON refuses and servers send: half characters, broken UTF-8, NaN.

    Raises:
        ValueError: It is no JSON, or nested too deep.
    """
    try:
        parsed: Json = orjson.loads(payload)
    except orjson.JSONDecodeError:
        try:
            parsed = json.loads(payload.decode("utf-8", "replace"))
        except RecursionError:
            raise ValueError("nested too deep") from None
    return parsed


def _whole_characters(text: str) -> tuple[str, str]:
    """Joins surrogate pairs that came in two pieces; a half at the end waits for the other one."""
    half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    return _mended(text[: len(text) - len(half)]), half


def _mended(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _usage(usage: JsonObject) -> Usage | None:
    """The tokens that a provider counted; None where it counted none, or counts as nobody can."""
    read, written = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if read is None and written is None:
        return None
    input_tokens, output_tokens = _count(read), _count(written)
    if input_tokens is None or output_tokens is None:
        return None
    cached = _detail(usage, "prompt_tokens_details", "cached_tokens")
    reasoning = _detail(usage, "completion_tokens_details", "reasoning_tokens")
    # With OpenAI what was thought is a part of what was written. Others count it beside it, which
    # their total tells.
    total = _count(usage.get("total_tokens")) or 0
    is_beside = reasoning > output_tokens or total >= input_tokens + output_tokens + reasoning > 0
    return Usage(
        input_tokens=input_tokens,
        cached_tokens=cached or _count(usage.get("prompt_cache_hit_tokens")) or 0,
        output_tokens=output_tokens + (reasoning if is_beside else 0),
        reasoning_tokens=reasoning,
    )


def _detail(usage: JsonObject, name: str, key: str) -> int:
    details = usage.get(name)
    return (_count(details.get(key)) or 0) if isinstance(details, Mapping) else 0


def _count(value: Json) -> int | None:
    """A number of tokens; nothing is 0, and what is no such number is None."""
    if value is None:
        return 0
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= _MOST_TOKENS else None
