"""Tool calls that models write into their text, in the forms of their training or our convention.

The system prompt instructs a model without tool calling to write

    ```tool
    {"name": "table", "arguments": {"rows": []}}
    ```

Other models use `<tool_call>` and the like if their server has no parser for them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
import json

import regex

from copilot_admin.agent.llm.tool_calls import (
    MAX_ARGUMENT_BYTES,
    MAX_NAME,
    CallLimits,
    arguments_text,
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
from protocol.json import Json, JsonObject, json_of, object_of, text_of

FENCE = "```tool"
UNREADABLE = "unreadable-tool-block"  # the name of a call that isn't valid
_RULES = (
    "You have tools. To use one, write a block that begins with a line ```tool and ends with a line "
    '```, with nothing in it but {"name": the tool, "arguments": an object}. Write nothing after the '
    "block; you get the result in the next message. The tools, each with the JSON Schema of its "
    "arguments:"
)
_DSML = "\uff5cDSML\uff5c"  # of DeepSeek
_MARKS = {  # opening: closing; NUL, which never comes, means the end of the answer
    FENCE: "```",
    "<tool_call>": "</tool_call>",  # Hermes, Qwen, GLM
    "<function_call>": "</function_call>",
    "<function=": "</function>",  # Qwen coder, Llama
    "<TOOLCALL>": "</TOOLCALL>",  # Nemotron
    "<|tool_call|>": "<|/tool_call|>",  # Phi, Granite
    "<minimax:tool_call>": "</minimax:tool_call>",
    "<function_calls>": "</function_calls>",
    f"<{_DSML}function_calls>": f"</{_DSML}function_calls>",
    f"<{_DSML}tool_calls>": f"</{_DSML}tool_calls>",
    "<\uff5ctool\u2581calls\u2581begin\uff5c>": "<\uff5ctool\u2581calls\u2581end\uff5c>",
    "<|tool_calls_section_begin|>": "<|tool_calls_section_end|>",  # Kimi
    "[TOOL_CALLS]": "\0",  # Mistral
    "<|python_tag|>": "\0",  # Llama
}
_OPENING = regex.compile("|".join(map(regex.escape, _MARKS)))
# The beginning of an answer that may consist of a call.
_BARE = regex.compile(
    r'\s*(?:```(?:json)?\s*)?\[?\s*\{\s*"(?:name|type|id|function|tool|tool_name|arguments|parameters)"'
)
# Names and arguments: of Qwen coder and Llama, MiniMax and DeepSeek, Kimi, older DeepSeeks, GLM,
# newer Mistrals.
_CALLS = [
    regex.compile(pattern, regex.DOTALL)
    for pattern in (
        r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)",
        rf'<(?:{_DSML})?invoke name="([^"]+)">(.*?)</(?:{_DSML})?invoke>',
        r"<\|tool_call_begin\|>\s*(\S+?)\s*<\|tool_call_argument_begin\|>(.*?)<\|tool_call_end\|>",
        "<\uff5ctool\u2581call\u2581begin\uff5c>(?:function<\uff5ctool\u2581sep\uff5c>)?\\s*([\\w.-]+)"
        "\\s*(?:<\uff5ctool\u2581sep\uff5c>|```json)(.*?)(?:```)?\\s*<\uff5ctool\u2581call\u2581end\uff5c>",
        r"\A\s*([\w.:-]+)\s*(<arg_key>.*)\Z",
        r"(?:\A|\[TOOL_CALLS\])\s*([\w.-]+)(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*"
        r"(\{.*?)(?=\[TOOL_CALLS\]|\Z)",
    )
]
_PARAMETERS = [
    regex.compile(pattern, regex.DOTALL)
    for pattern in (
        r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>",
        rf'<(?:{_DSML})?parameter name="([^"]+)"[^>]*>(.*?)</(?:{_DSML})?parameter>',
        r"<arg_key>(.*?)</arg_key>\s*<arg_value>(.*?)</arg_value>",
    )
]


class TextToolReader:
    """Extracts tool calls from streamed text, wherever its pieces are cut.

    If `is_convention`, the prompt requested this form: an unreadable block is a call too, so that
    the model receives an error.
    """

    def __init__(
        self, tools: Sequence[ToolSchema], limits: CallLimits, *, is_convention: bool
    ) -> None:
        self._tools = {tool.name: object_of(tool.parameters) for tool in tools}
        self._limits = limits
        self._is_convention = is_convention
        self._held = ""
        self._opening = ""  # of the block that is being read
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
            found = _BARE.match(self._held, partial=True)
            self._is_bare = None if found and found.partial else found is not None
        if self._is_bare is False:
            yield from self._feed_marked()

    def end(self, *, is_whole: bool) -> Iterator[Delta]:
        """Yield the buffered text; a block without an end counts if the answer is complete."""
        if self._is_bare and is_whole:
            text = self._held.strip()
            if text.startswith("```"):
                text = text.removeprefix("```").removeprefix("json").removesuffix("```")
            if calls := self._read_json(text, strict=True):
                self._held = ""
                yield from self._count(calls)
        if not self._opening:
            yield from self._feed_marked()
        rest, opening = self._held, self._opening
        self._held = self._opening = ""
        if opening and is_whole:
            yield from self._read_block(opening, rest)
        # A server that extracts calls may leave the beginning of their mark.
        is_torn = len(rest) >= len(f"<{_DSML}") and any(mark.startswith(rest) for mark in _MARKS)
        if opening + rest and not (is_whole and (opening or is_torn)):
            yield TextDelta(opening + rest)

    def flush_text(self) -> Iterator[Delta]:
        """Yield the buffered text where an error ends it, without incomplete blocks."""
        if self._held and not self._opening:
            yield TextDelta(self._held)
            self._held = ""

    def _feed_marked(self) -> Iterator[Delta]:
        while True:
            if self._opening:
                block, mark, rest = self._held.partition(_MARKS[self._opening])
                if not mark:
                    if len(block) > MAX_ARGUMENT_BYTES:
                        self._limits.count_arguments(block)
                    return
                opening, self._opening, self._held = self._opening, "", rest
                yield from self._read_block(opening, block)
            found = self._find_opening()
            words, self._held = self._held[: found.start()], self._held[found.start() :]
            self._ticks += words.count("`")
            if words:
                yield TextDelta(words)
            if found.partial:
                return
            self._opening = found[0]
            self._held = self._held.removeprefix(found[0])

    def _find_opening(self) -> regex.Match[str]:
        """Return the next mark outside of code, or the beginning of one at the end of the text."""
        for found in _OPENING.finditer(self._held, partial=True):
            ticks = self._ticks + self._held.count("`", 0, found.start())
            if found.partial or found[0] == FENCE or ticks % 2 == 0:
                break
        return found  # the last one is partial

    def _read_block(self, opening: str, block: str) -> Iterator[Delta]:
        self._limits.count_arguments(block)
        strict = opening == FENCE and not self._is_convention
        calls = self._read_json(block, strict=strict)
        if not calls and not strict:
            text = opening + block if opening == "<function=" else block
            found: list[tuple[str, str]] = next(
                filter(None, (pattern.findall(text) for pattern in _CALLS)),
                [(block.strip(), "")] if block.strip() in self._tools else [],
            )
            calls = [self._make_call(name, body) for name, body in found]
        if not calls and strict:
            self._ticks += 6
            yield TextDelta(f"{FENCE}{block}```")
        else:
            unreadable = ToolCall(id="", name=UNREADABLE, arguments=block.strip())
            yield from self._count(calls or [unreadable])

    def _count(self, calls: Iterable[ToolCall]) -> Iterator[Delta]:
        """Yield calls with ids of nine letters and digits: some vendors require this form."""
        for call in calls:
            self._limits.count_call()
            self._calls += 1
            yield replace(call, id=f"text{self._calls:05}")

    def _make_call(self, name: str, body: str) -> ToolCall:
        name = read_name(name, self._tools)[:MAX_NAME]
        found = (pattern.findall(body) for pattern in _PARAMETERS)
        values: list[tuple[str, str]] = next(filter(None, found), [])
        if not values or body.strip().startswith("{"):
            return ToolCall(id="", name=name, arguments=read_arguments_text(body))
        kinds = object_of(self._tools.get(name, {}).get("properties"))
        arguments = {}
        for key, text in values:
            is_text = object_of(kinds.get(key)).get("type") == "string"
            value = text if is_text else json_of(text)
            arguments[key] = text if value is None else value
        return ToolCall(id="", name=name, arguments=json.dumps(arguments, ensure_ascii=False))

    def _read_json(self, text: str, *, strict: bool) -> list[ToolCall]:
        """Return the calls in JSON values with blanks or ";" between; none if one isn't a call.

        If `strict`, names of tools that aren't offered are no calls.
        """
        text = read_arguments_text(text)
        rows: list[Json] = []
        place = 0
        try:
            while place < len(text):
                value, place = json.JSONDecoder(strict=False).raw_decode(text, place)
                rows += value if isinstance(value, list) else [value]
                place = len(text) - len(text[place:].lstrip(" \t\r\n;,"))
        except (ValueError, RecursionError):
            return []
        calls = [self._read_row(object_of(row), strict=strict) for row in rows]
        found = [call for call in calls if call is not None]
        return found if len(found) == len(calls) else []

    def _read_row(self, row: JsonObject, *, strict: bool) -> ToolCall | None:
        about = object_of(row.get("function")) or row
        names = (text_of(about.get(key)) for key in ("name", "function", "tool", "tool_name"))
        name = read_name(next(filter(None, names), ""), self._tools)[:MAX_NAME]
        found = [about[key] for key in ("arguments", "parameters", "args") if key in about]
        if not name or (strict and name not in self._tools):
            return None
        if not found and (strict or len(about) > 1):
            return None
        arguments = read_arguments_text(arguments_text(found[0])) if found else ""
        return ToolCall(id="", name=name, arguments=arguments)


def in_plain_text(call: ModelCall) -> ModelCall:
    """Return the call without tools: they, their calls and their results become text."""
    names = {one.id: one.name for message in call.messages for one in message.tool_calls}
    messages = []
    for message in call.messages:
        if message.role is ModelRole.TOOL:
            text = f"Result of {names.get(message.tool_call_id, 'a tool')}:\n{message.text}"
            message = ModelMessage(role=ModelRole.USER, text=text)
        elif message.tool_calls:
            blocks = (
                f'{FENCE}\n{{"name": {json.dumps(one.name)}, "arguments": {one.arguments or "{}"}}}\n```'
                for one in message.tool_calls
            )
            text = "\n".join(filter(None, (message.text, *blocks)))
            message = replace(message, text=text, tool_calls=())
        messages.append(message)
    if call.tools:
        text = _RULES
        for tool in call.tools:
            schema = json.dumps(tool.parameters, ensure_ascii=False)
            text += f"\n- {tool.name}: {tool.description}\n  {schema}"
        if messages and messages[0].role is ModelRole.SYSTEM:
            text = f"{messages.pop(0).text}\n\n{text}"
        messages.insert(0, ModelMessage(role=ModelRole.SYSTEM, text=text))
    return replace(call, messages=tuple(messages), tools=())
