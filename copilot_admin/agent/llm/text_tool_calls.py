"""Tool calls that models write into their text, in the forms of their training or our convention.

The system prompt instructs a model without tool calling to write

    ```tool
    {"name": "table", "arguments": {"rows": []}}
    ```

Other models use `<tool_call>` and the like if their server has no parser for them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
import json
import re

from copilot_admin.agent.llm.reasoning import partial_mark
from copilot_admin.agent.llm.tool_calls import (
    MAX_NAME,
    CallLimits,
    numbered,
    parse_calls,
    read_arguments_text,
    read_name,
)
from copilot_admin.agent.values.model_call import (
    Delta,
    ModelCall,
    ModelMessage,
    ModelRole,
    TextDelta,
    ToolCall,
    ToolSchema,
)
from protocol.json import json_of, object_of

FENCE = "```tool"
UNREADABLE = "unreadable-tool-block"  # the name of a call that isn't valid
_RULES = (
    "You have tools. To use one, write a block that begins with a line ```tool and ends with a line "
    '```, with nothing in it but {"name": the tool, "arguments": an object}. Write nothing after the '
    "block; you get the result in the next message. The tools, each with the JSON Schema of its "
    "arguments:"
)
_MARKS = {  # opening: closing; "" is the end of the answer
    FENCE: "```",
    "<tool_call>": "</tool_call>",  # Hermes, Qwen, GLM
    "<function_call>": "</function_call>",
    "<function=": "</function>",  # Qwen coder, Llama
    "<TOOLCALL>": "</TOOLCALL>",  # Nemotron
    "<|tool_call|>": "<|/tool_call|>",  # Phi, Granite
    "<minimax:tool_call>": "</minimax:tool_call>",
    "<function_calls>": "</function_calls>",
    "<\uff5cDSML\uff5cfunction_calls>": "</\uff5cDSML\uff5cfunction_calls>",  # DeepSeek
    "<\uff5cDSML\uff5ctool_calls>": "</\uff5cDSML\uff5ctool_calls>",
    "<\uff5ctool\u2581calls\u2581begin\uff5c>": "<\uff5ctool\u2581calls\u2581end\uff5c>",
    "<|tool_calls_section_begin|>": "<|tool_calls_section_end|>",  # Kimi
    "[TOOL_CALLS]": "",  # Mistral
    "<|python_tag|>": "",  # Llama
}
_OPENING = re.compile("|".join(map(re.escape, _MARKS)))
# The beginning of an answer that may consist of a call.
_BARE = re.compile(
    r'\s*(?:```(?:json)?\s*)?\[?\s*\{\s*"(?:name|type|id|function|tool|tool_name|arguments|parameters)"'
)
_BARE_NAME = re.compile(r'\s*(?:```(?:json)?\s*)?\[?\s*\{\s*"name"\s*:\s*"([^"\\]*)"')
_WORDS_BEHIND = re.compile(r"\s*```(?:json)?\s.*?\n```\s*\S", re.DOTALL)
_BARE_PREFIX = re.compile(r'\s*(?:`{1,3}|```(?:j|js|jso|json)?\s*)?\[?\s*(?:\{\s*(?:"\w*)?)?')
_MAX_BARE = 16 * 1024
_MIN_TORN_MARK = len("<\uff5cDSML\uff5c")
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_INVOKE = re.compile(
    r'<(?:\uff5cDSML\uff5c)?invoke name="([^"]+)">(.*?)</(?:\uff5cDSML\uff5c)?invoke>', re.DOTALL
)
_INVOKE_PARAMETER = re.compile(
    r'<(?:\uff5cDSML\uff5c)?parameter name="([^"]+)"[^>]*>(.*?)</(?:\uff5cDSML\uff5c)?parameter>',
    re.DOTALL,
)
_PAIR = re.compile(r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_KIMI = re.compile(
    r"<\|tool_call_begin\|>\s*(\S+?)\s*<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>",
    re.DOTALL,
)
_DEEPSEEK = re.compile(
    r"<\uff5ctool\u2581call\u2581begin\uff5c>(?:function<\uff5ctool\u2581sep\uff5c>)?\s*([\w.-]+)\s*"
    r"(?:<\uff5ctool\u2581sep\uff5c>|```json)(.*?)(?:```)?\s*<\uff5ctool\u2581call\u2581end\uff5c>",
    re.DOTALL,
)


class TextToolReader:
    """Extracts tool calls from streamed text, wherever its pieces are cut.

    If `is_convention`, the prompt requested this form: an unreadable block is a call too, so that
    the model receives an error.
    """

    def __init__(
        self, tools: Sequence[ToolSchema], limits: CallLimits, *, is_convention: bool
    ) -> None:
        self.called = False
        self._tools = {tool.name: object_of(tool.parameters) for tool in tools}
        self._names = [*self._tools]
        self._limits = limits
        self._is_convention = is_convention
        self._held = ""
        self._opening = ""  # of the block that is being read
        self._block: list[str] = []
        self._is_bare: bool | None = None  # the answer so far may be a call
        self._ticks = 0
        self._calls = 0

    def passes_plain_text(self) -> bool:
        """Return true if text without the first signs of marks is answer unchanged."""
        return self._is_bare is False and not (self._held or self._opening)

    def feed(self, text: str) -> Iterator[Delta]:
        """Yield the deltas that are certain after the next piece."""
        self._held += text
        if self._is_bare is None:
            is_bare = bool(_BARE.match(self._held))
            if not is_bare and _BARE_PREFIX.fullmatch(self._held):
                return
            self._is_bare = is_bare
        if self._is_bare and self._may_be_bare():
            return
        self._is_bare = False
        yield from self._feed_marked()

    def end(self, *, is_whole: bool) -> Iterator[Delta]:
        """Yield the buffered text; a block without an end counts if the answer is complete."""
        if self._is_bare and is_whole and (calls := self._read_bare()):
            self._held = ""
            yield from self._count(calls)
        elif not self._opening:
            yield from self._feed_marked()
        rest = "".join((*self._block, self._held))
        if self._opening and is_whole:
            yield from self._read_block(rest)
        elif rest and not (is_whole and _is_torn_mark(rest)):
            yield TextDelta(self._opening + rest)
        self._held, self._block, self._opening = "", [], ""

    def flush_text(self) -> Iterator[TextDelta]:
        """Yield the buffered text where an error ends it, without incomplete blocks."""
        if self._held and not self._opening:
            yield TextDelta(self._held)

    def _may_be_bare(self) -> bool:
        """Return whether the complete answer so far may be a call."""
        if len(self._held) > _MAX_BARE or _WORDS_BEHIND.match(self._held):
            return False
        name = _BARE_NAME.match(self._held)
        return name is None or read_name(name[1], self._names) in self._tools

    def _feed_marked(self) -> Iterator[Delta]:
        while True:
            if self._opening:
                if not self._take_block():
                    return
                block, self._block = "".join(self._block), []
                yield from self._read_block(block)
                self._opening = ""
            found = self._find_opening()
            end = found.start() if found else len(self._held) - partial_mark(self._held, _MARKS)
            words, self._held = self._held[:end], self._held[end:]
            self._ticks += words.count("`")
            if words:
                yield TextDelta(words)
            if not found:
                return
            self._opening = found[0]
            self._held = self._held[len(found[0]) :]

    def _find_opening(self) -> re.Match[str] | None:
        for found in _OPENING.finditer(self._held):
            ticks = self._ticks + self._held.count("`", 0, found.start())
            if found[0] == FENCE or ticks % 2 == 0:  # otherwise it is part of code
                return found
        return None

    def _take_block(self) -> bool:
        closing = _MARKS[self._opening]
        end = self._held.find(closing) if closing else -1
        is_whole = end >= 0
        if not is_whole:
            end = len(self._held) - (partial_mark(self._held, (closing,)) if closing else 0)
        part = self._held[:end]
        self._held = self._held[end + len(closing) if is_whole else end :]
        self._limits.count_arguments(part)
        self._block.append(part)
        return is_whole

    def _read_block(self, block: str) -> Iterator[Delta]:
        is_fence = self._opening == FENCE
        text = self._opening + block if self._opening == "<function=" else block
        calls = self._calls_in(text, strict=is_fence and not self._is_convention)
        if calls:
            yield from self._count(calls)
        elif is_fence and not self._is_convention:
            self._ticks += 6
            yield TextDelta(f"{FENCE}{block}```")
        else:
            yield from self._count([ToolCall(id="", name=UNREADABLE, arguments=block.strip())])

    def _count(self, calls: Sequence[ToolCall]) -> Iterator[Delta]:
        for _ in calls:
            self._limits.count_call()
        yield from numbered(calls, start=self._calls + 1)
        self._calls += len(calls)
        self.called = True

    def _read_bare(self) -> list[ToolCall] | None:
        text = self._held.strip()
        if text.startswith("```"):
            text = text.removeprefix("```").removeprefix("json").removesuffix("```")
        return _json_calls(text, self._names, strict=True)

    def _calls_in(self, block: str, *, strict: bool) -> list[ToolCall] | None:
        calls = _json_calls(block, self._names, strict=strict)
        if calls or strict:
            return calls
        return (
            self._tagged(block, _FUNCTION, _PARAMETER)
            or self._tagged(block, _INVOKE, _INVOKE_PARAMETER)
            or self._paired(block)
            or [self._made(*one) for one in _KIMI.findall(block) or _DEEPSEEK.findall(block)]
        )

    def _tagged(
        self, text: str, call: re.Pattern[str], parameter: re.Pattern[str]
    ) -> list[ToolCall]:
        calls = []
        for name, body in call.findall(text):
            values = parameter.findall(body)
            if not values and body.strip().startswith("{"):
                calls.append(self._made(name, body))
            else:
                calls.append(self._made_of(name, values))
        return calls

    def _paired(self, text: str) -> list[ToolCall]:
        name, values = text.partition("<arg_key>")[0].strip(), _PAIR.findall(text)
        is_name = bool(re.fullmatch(r"[\w.:-]+", name))
        return [self._made_of(name, values)] if is_name and (values or name in self._tools) else []

    def _made(self, name: str, arguments: str) -> ToolCall:
        name = read_name(name, self._names)[:MAX_NAME]
        return ToolCall(id="", name=name, arguments=read_arguments_text(arguments))

    def _made_of(self, name: str, values: Sequence[tuple[str, str]]) -> ToolCall:
        name = read_name(name, self._names)[:MAX_NAME]
        kinds = object_of(self._tools.get(name, {}).get("properties"))
        arguments = {
            key: _value(text, object_of(kinds.get(key)).get("type")) for key, text in values
        }
        return ToolCall(id="", name=name, arguments=json.dumps(arguments, ensure_ascii=False))


def _is_torn_mark(text: str) -> bool:
    """Return whether a server extracted a call and left the beginning of its mark."""
    return len(text) >= _MIN_TORN_MARK and any(mark.startswith(text) for mark in _MARKS)


def _value(text: str, kind: object) -> object:
    if kind == "string":
        return text
    value = json_of(text)
    return text if value is None else value


def _json_calls(text: str, names: Sequence[str], *, strict: bool) -> list[ToolCall] | None:
    """Return the calls in one JSON value, or in several with blanks or ";" between."""
    text = text.strip()
    whole = read_arguments_text(text)
    values, place = [], 0
    try:
        while place < len(whole):
            value, place = json.JSONDecoder(strict=False).raw_decode(whole, place)
            values += value if isinstance(value, list) else [value]
            place = re.compile(r"[\s;,]*").match(whole, place).end()  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return None
    return parse_calls(values, names, strict=strict)


def in_plain_text(call: ModelCall) -> ModelCall:
    """Return the call without tools: they, their calls and their results become text."""
    names = {one.id: one.name for message in call.messages for one in message.tool_calls}
    messages = [_to_plain_message(message, names) for message in call.messages]
    if call.tools:
        described = "\n".join((_RULES, *map(_described, call.tools)))
        if messages and messages[0].role is ModelRole.SYSTEM:
            text = f"{messages[0].text}\n\n{described}"
            messages[0] = replace(messages[0], text=text)
        else:
            messages.insert(0, ModelMessage(role=ModelRole.SYSTEM, text=described))
    return replace(call, messages=tuple(messages), tools=())


def _to_plain_message(message: ModelMessage, names: dict[str, str]) -> ModelMessage:
    if message.role is ModelRole.TOOL:
        name = names.get(message.tool_call_id, "a tool")
        return ModelMessage(role=ModelRole.USER, text=f"Result of {name}:\n{message.text}")
    if not message.tool_calls:
        return message
    blocks = (
        f'{FENCE}\n{{"name": {json.dumps(one.name)}, "arguments": {one.arguments}}}\n```'
        for one in message.tool_calls
    )
    text = "\n".join(filter(None, (message.text, *blocks)))
    return replace(message, text=text, tool_calls=())


def _described(tool: ToolSchema) -> str:
    schema = json.dumps(tool.parameters, ensure_ascii=False)
    return f"- {tool.name}: {tool.description}\n  {schema}"
