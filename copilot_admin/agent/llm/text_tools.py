"""Tools for models that have no tool calling: a convention in plain text, at the provider's edge.

The tools are described in the system prompt. A model that wants one writes

    ```tool
    {"name": "table", "arguments": {"rows": []}}
    ```

which is taken out of its words as they come, and becomes a call like any other.
"""

from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import replace
import json

from copilot_admin.agent.llm.tool_call_fragments import LONGEST_NAME, CallLimits, check_values
from copilot_admin.agent.values.model_call import (
    ALIVE,
    Alive,
    Delta,
    Finish,
    ModelCall,
    ModelMessage,
    ModelProvider,
    ModelRole,
    TextDelta,
    ToolCall,
    ToolSchema,
)
from copilot_admin.errors import RunError

OPENING = "```tool"
CLOSING = "```"
UNREADABLE = "unreadable-tool-block"  # the name of a call whose block is no such JSON
_RULES = (
    "You have tools. To use one, write a block that begins with a line ```tool and ends with a line "
    '```, with nothing in it but {"name": the tool, "arguments": an object}. Write nothing after the '
    "block; you get the result in the next message. The tools, each with the JSON Schema of its "
    "arguments:"
)


class TextTools:
    """A provider around another one, which never hears of tools."""

    def __init__(self, provider: ModelProvider) -> None:
        self._provider = provider

    async def stream(self, call: ModelCall) -> AsyncGenerator[Delta | Alive, None]:
        """Streams the answer, with the calls that stand in its words.

        Raises:
            RunError: What the provider raises.
        """
        blocks = ToolBlocks()
        try:
            async with aclosing(self._provider.stream(in_plain_text(call))) as deltas:
                async for delta in deltas:
                    for one in _without_blocks(delta, blocks):
                        yield one
        except RunError:
            for words in blocks.words():
                yield words
            raise

    async def models(self) -> tuple[str, ...]:
        """The ids of the models that the provider lists."""
        return await self._provider.models()


def _without_blocks(delta: Delta | Alive, blocks: "ToolBlocks") -> Iterator[Delta | Alive]:
    match delta:
        case TextDelta(text):
            found = False
            for one in blocks.feed(text):
                found = True
                yield one
            if not found:
                yield ALIVE
        case Finish(reason):
            yield from blocks.end(whole=reason is not None)
            yield Finish("tool_calls") if blocks.called else delta
        case _:
            yield delta


class ToolBlocks:
    """Takes tool blocks out of a text that comes in pieces, cut wherever they like.

    What it yields was certain before the piece that breaks a limit of calls or of their arguments.
    """

    def __init__(self) -> None:
        self._limits = CallLimits()
        self._held = ""  # what may be the beginning of a mark
        self._block: list[str] = []  # what there is of the block
        self._inside = False
        self._calls = 0

    def feed(self, text: str) -> Iterator[TextDelta | ToolCall]:
        """What is certain after the next piece; the beginning of a block is held back.

        Raises:
            LimitReached: There are too many calls, or too much or too many values were written for them.
        """
        text, start = self._held + text, 0
        while (end := text.find(self._mark, start)) >= 0:
            before, start = text[start:end], end + len(self._mark)
            if self._inside:
                self._limits.count_arguments(before)
                block, self._block = "".join((*self._block, before)), []
                yield self._call(block)
            elif before:
                yield TextDelta(before)
            self._inside = not self._inside
        end = len(text) - _tail(text, start=start, mark=self._mark)
        certain, self._held = text[start:end], text[end:]
        if self._inside:
            self._limits.count_arguments(certain)
            self._block.append(certain)
        elif certain:
            yield TextDelta(certain)

    def end(self, *, whole: bool) -> Iterator[TextDelta | ToolCall]:
        """What was held back; a block that never ended counts if the answer did."""
        rest = "".join((*self._block, self._held))
        if self._inside and whole:
            yield self._call(rest)
        elif rest:
            yield TextDelta(OPENING * self._inside + rest)
        self._held, self._block, self._inside = "", [], False

    def words(self) -> Iterator[TextDelta]:
        """What was held back of the words, where an error ends them; no half of a block."""
        if self._held and not self._inside:
            yield TextDelta(self._held)

    @property
    def called(self) -> bool:
        """Whether there was a call."""
        return self._calls > 0

    @property
    def _mark(self) -> str:
        return CLOSING if self._inside else OPENING

    def _call(self, block: str) -> ToolCall:
        self._limits.count_call()
        check_values(block)
        self._calls += 1
        name, arguments = _read_block(block)
        return ToolCall(id=f"text{self._calls:05}", name=name[:LONGEST_NAME], arguments=arguments)


def _read_block(block: str) -> tuple[str, str]:
    try:
        parsed = json.loads(block)
        if isinstance(parsed, dict) and isinstance(parsed.get("name"), str):
            arguments = {} if parsed.get("arguments") is None else parsed["arguments"]
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            return parsed["name"], written
    except (ValueError, RecursionError):
        pass  # it is shown as it came
    return UNREADABLE, block.strip()


def in_plain_text(call: ModelCall) -> ModelCall:
    """The call without tools: they, their calls and their results are words."""
    names = {one.id: one.name for message in call.messages for one in message.tool_calls}
    messages = [_worded(message, names) for message in call.messages]
    if call.tools:
        described = "\n".join((_RULES, *map(_described, call.tools)))
        if messages and messages[0].role is ModelRole.SYSTEM:
            text = f"{messages[0].text}\n\n{described}"
            messages[0] = replace(messages[0], text=text)
        else:
            messages.insert(0, ModelMessage(role=ModelRole.SYSTEM, text=described))
    return replace(call, messages=tuple(messages), tools=())


def _worded(message: ModelMessage, names: dict[str, str]) -> ModelMessage:
    if message.role is ModelRole.TOOL:
        name = names.get(message.tool_call_id, "a tool")
        return ModelMessage(role=ModelRole.USER, text=f"Result of {name}:\n{message.text}")
    if not message.tool_calls:
        return message
    blocks = (
        f'{OPENING}\n{{"name": {json.dumps(one.name)}, "arguments": {one.arguments}}}\n{CLOSING}'
        for one in message.tool_calls
    )
    text = "\n".join(filter(None, (message.text, *blocks)))
    return replace(message, text=text, tool_calls=())


def _described(tool: ToolSchema) -> str:
    schema = json.dumps(tool.parameters, ensure_ascii=False)
    return f"- {tool.name}: {tool.description}\n  {schema}"


def _tail(text: str, *, start: int, mark: str) -> int:
    for length in range(min(len(mark) - 1, len(text) - start), 0, -1):
        if mark.startswith(text[-length:]):
            return length
    return 0
