"""Reads the chunks of a streamed chat completion into deltas.

Source: the chat completions API of OpenAI, with what other servers make of it.
"""

from collections.abc import Iterable, Mapping
import json

import orjson

from copilot_admin.engine.llm.fragments import ToolFragments
from copilot_admin.engine.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    ReasoningDelta,
    TextDelta,
    Usage,
    UsageSource,
    estimated_tokens,
)
from copilot_admin.errors import ProviderBroke
from protocol.json import Json, JsonObject

DONE = b"[DONE]"
_NOT_UNDERSTOOD = (
    "The model's provider sent something that is no chat completion, so the answer was ended. "
    "Whoever manages this copilot should check the provider's address."
)


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
        self._tools = ToolFragments()
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._half = ""  # a surrogate whose other half is in the next chunk

    def read(self, payloads: Iterable[bytes]) -> list[Delta]:
        """Returns the deltas of some chunks; text that arrived together is one delta.

        Raises:
            StreamError: A chunk is an error object.
            ProviderBroke: A chunk is not JSON, or no object.
        """
        for payload in payloads:
            if payload == DONE:
                self.done = True
                break
            self._read_chunk(_parsed(payload))
        return self._flush()

    def end(self, call: ModelCall) -> list[Delta]:
        """Returns what is known only at the end of the stream: tool calls, usage, the finish.

        A stream that ended without saying so may have ended anywhere, so its tool calls are not
        to be trusted.
        """
        reason = self._reason or ("stop" if self.done else None)
        calls = self._tools.calls() if reason else ()
        return [*calls, self._usage or self._estimate(call), Finish(reason)]

    @property
    def said_why(self) -> bool:
        """Whether the provider said that the answer is whole, or why it is not."""
        return self.done or self._reason is not None

    def _read_chunk(self, chunk: JsonObject) -> None:
        if chunk.get("error"):
            raise StreamError(chunk["error"])
        choices = chunk.get("choices")
        if isinstance(choices, list) and choices:
            choice = choices[0]
            if isinstance(choice, dict):
                self._read_choice(choice)
        usage = chunk.get("usage")
        if isinstance(usage, dict):  # some servers send it with every chunk, growing
            self._usage = _usage(usage)

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
        if isinstance(reason, str) and reason:
            self._reason = reason

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

    def _estimate(self, call: ModelCall) -> Usage:
        return Usage(
            input_tokens=sum(estimated_tokens(len(one.text)) for one in call.messages),
            output_tokens=estimated_tokens(self._characters),
            source=UsageSource.ESTIMATED,
        )

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
    try:
        chunk = orjson.loads(payload)
    except orjson.JSONDecodeError:
        chunk = _leniently_parsed(payload)
    if not isinstance(chunk, dict):
        raise ProviderBroke(_NOT_UNDERSTOOD)
    return chunk


def _leniently_parsed(payload: bytes) -> Json:
    """Reads what strict JSON refuses and servers send: half characters, broken UTF-8, NaN."""
    try:
        chunk: Json = json.loads(payload.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise ProviderBroke(_NOT_UNDERSTOOD) from None
    return chunk


def _whole_characters(text: str) -> tuple[str, str]:
    """Joins surrogate pairs that came in two pieces; a half at the end waits for the other one."""
    half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    return _mended(text[: len(text) - len(half)]), half


def _mended(text: str) -> str:
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _usage(usage: JsonObject) -> Usage:
    return Usage(
        input_tokens=_count(usage, "prompt_tokens"),
        cached_tokens=_count(usage.get("prompt_tokens_details"), "cached_tokens")
        or _count(usage, "prompt_cache_hit_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        reasoning_tokens=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(usage: Json, key: str) -> int:
    value = usage.get(key) if isinstance(usage, Mapping) else None
    return max(int(value), 0) if isinstance(value, int | float) else 0
