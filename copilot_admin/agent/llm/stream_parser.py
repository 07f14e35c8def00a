"""Parse the bytes of a chat completion, streamed or not, into deltas.

Source: the chat completions API of OpenAI, with the deviations of other servers.
"""

from collections.abc import Iterable
import json
import re

from copilot_admin.agent.llm.answer_metadata import SourceCollector, find_usage
from copilot_admin.agent.llm.body_reader import DONE, BodyReader
from copilot_admin.agent.llm.finish_reasons import read_reason, truncation
from copilot_admin.agent.llm.provider_errors import (
    BROKE_OFF,
    NOT_UNDERSTOOD,
    NOTHING_CAME,
    WEB_PAGE,
    is_web_page,
)
from copilot_admin.agent.llm.reasoning import ReasoningReader
from copilot_admin.agent.llm.text_tool_calls import TextToolReader
from copilot_admin.agent.llm.tool_calls import CallLimits, ToolCallAccumulator
from copilot_admin.agent.values.model_call import (
    Delta,
    Finish,
    ModelCall,
    PictureDelta,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    Usage,
    estimated_usage,
)
from copilot_admin.errors import ProviderBroke, ProviderUnavailable
from protocol.json import Json, JsonObject, json_of, object_of, objects_of, text_of
from protocol.sse import ServerEvent

_NO_ERRORS = (None, "", 0, "0", 200, "200")  # as a code
_MAX_PICTURES = 8
_METADATA = ("usage", "x_groq", "citations", "search_results")  # next to the choices
_FIRST_SIGNS = re.compile("[<`◁[]")  # of tags, fences and other marks


class StreamError(Exception):
    """The error object that a provider put into its answer."""

    def __init__(self, error: Json) -> None:
        super().__init__("error in the stream")
        self.error = error


class AnswerParser:
    """Folds the bytes of one answer into deltas.

    The model `thinks_first` if it writes its reasoning as text and only closes it. With `text_tools`,
    tools were offered by the convention in plain text.
    """

    def __init__(
        self, call: ModelCall, *, thinks_first: bool = False, text_tools: bool = False
    ) -> None:
        self.done = False  # the provider has signalled the end
        self.began = False  # part of the answer has arrived, visible or not
        limits = CallLimits()
        self._call = call
        self._body = BodyReader()
        self._reasoning = ReasoningReader(limits, thinks_first=thinks_first)
        self._text_tools = (
            TextToolReader(call.tools, limits, is_convention=text_tools) if call.tools else None
        )
        offered = [tool.name for tool in call.tools]
        self._tools = ToolCallAccumulator(limits, model=call.model, offered=offered)
        self._sources = SourceCollector()
        self._unknown: JsonObject = {}  # the last chunk without choices
        self._usage: Usage | None = None
        self._characters = 0  # of the answer, to estimate its tokens
        self._reason: str | None = None
        self._choice: int | None = None  # index of the choice that is read: the first with a number
        self._ended_by_usage = False
        self._has_calls = self._wrote_calls = False
        self._is_in_pieces = False  # the text arrived as deltas
        self._pictures = 0
        self._text = ""
        self._deltas: list[Delta] = []

    @property
    def has_reason(self) -> bool:
        """True as soon as the provider sent a finish reason or ended the stream."""
        return self.done or self._reason is not None

    @property
    def thinks_first(self) -> bool | None:
        """Whether a lone closing tag revealed that text was reasoning; None without any text."""
        return self._reasoning.was_unopened or (False if self._characters else None)

    def feed(self, block: bytes) -> list[Delta]:
        """Return the deltas of a block of bytes; text of one block is one delta.

        Raises a `StreamError` if the provider reports an error, or a `RunError` if it sends something
        else than a chat completion, or too much.
        """
        self._read(self._body.feed(block))
        return self._pop()

    def rest(self) -> list[Delta]:
        """Return the deltas that were read before an error."""
        self._flush_text()
        self._add(self._reasoning.feed("", is_end=True))
        found = [*self._pop(), *(self._text_tools.flush_text() if self._text_tools else ())]
        return [delta for delta in found if not isinstance(delta, ToolCall)]

    def end(self) -> list[Delta]:
        """Return the deltas that need the end of the body: tool calls, usage, the finish.

        A stream without an end mark may have been truncated anywhere, so its tool calls can't be
        trusted. The errors are those of `feed`.
        """
        try:
            self._read(self._body.end(), is_last=True)
        except (ProviderBroke, ProviderUnavailable):
            if not self.began:
                raise
        reason = self._reason or ("stop" if self.done or self._ended_by_usage else None)
        self._flush_text(is_end=True)
        self._add(self._reasoning.feed("", is_end=True))
        if self._text_tools is not None:
            for delta in self._text_tools.end(is_whole=reason is not None):
                self._append_delta(delta)
        calls = self._tools.calls() if reason else []
        if self._wrote_calls and reason:
            reason = "tool_calls"
        elif not (calls or self._reason or self._characters or (self.began and not self.done)):
            detail = json.dumps(self._unknown, ensure_ascii=False) if self._unknown else ""
            raise ProviderBroke(NOTHING_CAME, detail=detail)
        return [
            *self._pop(),
            *calls,
            *self._sources.collected(),
            self._usage or estimated_usage(self._call, written=self._characters),
            Finish(reason),
        ]

    def _pop(self) -> list[Delta]:
        deltas, self._deltas = self._deltas, []
        return deltas

    def _read(self, events: Iterable[ServerEvent], *, is_last: bool = False) -> None:
        for name, data in events:
            if name == "error":
                error = json_of(data) or data.decode("utf-8", "replace")
                raise StreamError(object_of(error).get("error") or error)
            if data.strip() == DONE:
                self.done = True
                break
            self._read_chunk(_parse_chunk(data, is_last=is_last))
        self._flush_text()

    def _read_chunk(self, chunk: JsonObject) -> None:
        if chunk.get("error"):
            raise StreamError(chunk["error"])
        choices = chunk.get("choices")
        choice: JsonObject = {}
        if isinstance(choices, list) and choices:
            choice = next(filter(self._is_ours, choices), choice)
            self._read_choice(choice)
        elif _is_error(chunk):
            raise StreamError(chunk)
        else:
            self._unknown = chunk
        if "usage" in choice or any(map(chunk.get, _METADATA)):
            usage = find_usage(chunk)  # some servers send it with every chunk, growing
            if usage is not None:
                self._usage = usage
                self._ended_by_usage = self._ended_by_usage or not choices
            self._sources.read(chunk)

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
        # A server that can't stream sends a complete `message`. Some send the pieces under that name.
        # A streaming server may repeat the message at the end.
        piece = choice.get("delta")
        delta = piece or (None if self._is_in_pieces else choice.get("message"))
        if isinstance(delta, dict):
            content = delta.get("content")
            if len(delta) > 1 or not isinstance(content, str):
                self._read_members(delta)
            self._add_answer_text(content)
            self._is_in_pieces = self._is_in_pieces or bool(piece and self.began)
        elif delta is None and not self._is_in_pieces:
            self._add_answer_text(choice.get("text"))  # of the older completions
        reason = read_reason(choice.get("finish_reason"))
        if reason and truncation(Finish(self._reason or "stop")) is None:
            self._reason = reason

    def _read_members(self, delta: JsonObject) -> None:
        details = self._tools.add_message(delta)
        thought = text_of(delta.get("reasoning_content")) or text_of(delta.get("reasoning"))
        if thought := thought or details:
            self._reasoning.stop_watching()
            self._think(thought)
        for part in objects_of(delta.get("content")) or [object_of(delta.get("content"))]:
            thoughts = part.get("thinking") or part.get("summary")  # of Mistral, Databricks
            texts = (text_of(one.get("text")) for one in objects_of(thoughts))
            self._think(text_of(thoughts) or "".join(texts))
            self._add_answer_text(part.get("text"))
            if part.get("type") == "image_url":
                self._read_picture(part)
        self._add_answer_text(delta.get("refusal"))
        fragments = delta.get("tool_calls")
        for fragment in [fragments] if isinstance(fragments, dict) else objects_of(fragments):
            self.began = self._has_calls = True
            self._tools.add(fragment)
        function = delta.get("function_call")  # predecessor of tool calls
        if isinstance(function, dict) and not self._has_calls:  # some servers send both
            self._tools.add({"index": 0, "function": function})
        for picture in objects_of(delta.get("images")):
            self._read_picture(picture)
        self._sources.read(delta)

    def _read_picture(self, picture: JsonObject) -> None:
        url = object_of(picture.get("image_url")).get("url") or picture.get("url")
        if isinstance(url, str) and url and self._pictures < _MAX_PICTURES:
            self.began = True
            self._pictures += 1
            self._flush_text()
            self._deltas.append(PictureDelta(url))
            self._characters += 1

    def _think(self, text: str) -> None:
        if text:
            self._flush_text()
            self.began = True
            self._append_delta(ReasoningDelta(_join_surrogates(text)))

    def _add_answer_text(self, text: Json) -> None:
        if isinstance(text, str) and text:
            self.began = True
            self._ended_by_usage = False
            self._text += text

    def _flush_text(self, *, is_end: bool = False) -> None:
        text, self._text = self._text, ""
        if text and "\ud800" <= text[-1] <= "\udbff" and not is_end:
            text, self._text = text[:-1], text[-1]  # the second half is in the next chunk
        if not text:
            return
        text = _join_surrogates(text)
        is_plain = not _FIRST_SIGNS.search(text) and self._reasoning.passes_plain_text()
        if is_plain and (self._text_tools is None or self._text_tools.passes_plain_text()):
            self._append_delta(TextDelta(text))
        else:
            self._add(self._reasoning.feed(text))

    def _add(self, deltas: Iterable[Delta]) -> None:
        for delta in deltas:
            if isinstance(delta, TextDelta) and self._text_tools is not None:
                for one in self._text_tools.feed(delta.text):
                    self._append_delta(one)
            else:
                self._append_delta(delta)

    def _append_delta(self, delta: Delta) -> None:
        last = self._deltas[-1] if self._deltas else None
        if isinstance(delta, TextDelta):
            self._characters += len(delta.text)
            if isinstance(last, TextDelta):
                delta = TextDelta(last.text + delta.text)
                self._deltas.pop()
        elif isinstance(delta, ReasoningDelta) and isinstance(last, ReasoningDelta):
            delta = ReasoningDelta(last.text + delta.text)
            self._deltas.pop()
        elif isinstance(delta, ToolCall):
            self._wrote_calls = True
            delta = self._tools.complete(delta)
        self._deltas.append(delta)


def _is_error(chunk: JsonObject) -> bool:
    if "error" in (chunk.get("object"), chunk.get("type")):
        return True
    is_other = "choices" not in chunk and "usage" not in chunk
    has_code = isinstance(chunk.get("message"), str) and chunk.get("code") not in _NO_ERRORS
    if object_of(chunk.get("base_resp")).get("status_code") not in _NO_ERRORS:  # of MiniMax
        return True
    return is_other and (has_code or isinstance(chunk.get("detail"), str))


def _parse_chunk(payload: bytes, *, is_last: bool) -> JsonObject:
    chunk = json_of(payload)
    if chunk is None:
        if payload.lstrip()[:1] in (b"", b":"):
            return {}  # a keep-alive of some servers, or a comment that a gateway wrapped
        if is_last and payload.lstrip().startswith(b"{"):
            raise ProviderUnavailable(BROKE_OFF)
    if isinstance(chunk, list) and len(chunk) == 1:
        chunk = chunk[0]  # Gemini wraps its errors
    if not isinstance(chunk, dict):
        sentence = WEB_PAGE if is_web_page(payload) else NOT_UNDERSTOOD
        raise ProviderBroke(sentence, detail=payload.decode(errors="replace"))
    return chunk


def _join_surrogates(text: str) -> str:
    """Return the text with pairs of surrogates as characters; lone ones are replaced."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
