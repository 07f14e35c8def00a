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

from copilot_admin.engine.values.model_call import (
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
        called = False
        async with aclosing(self._provider.stream(in_plain_text(call))) as deltas:
            async for delta in deltas:
                found: tuple[Delta | Alive, ...] = (delta,)
                if isinstance(delta, TextDelta):
                    found = tuple(blocks.feed(delta.text)) or (ALIVE,)
                elif isinstance(delta, Finish):
                    rest = tuple(blocks.end(whole=delta.reason is not None))
                    called = called or any(isinstance(one, ToolCall) for one in rest)
                    found = (*rest, Finish("tool_calls") if called else delta)
                for one in found:
                    called = called or isinstance(one, ToolCall)
                    yield one

    async def models(self) -> tuple[str, ...]:
        """The ids of the models that the provider lists."""
        return await self._provider.models()


class ToolBlocks:
    """Takes tool blocks out of a text that comes in pieces, cut wherever they like."""

    def __init__(self) -> None:
        self._held = ""  # what may be the beginning of a mark
        self._block: list[str] = []  # what there is of the block
        self._inside = False
        self._calls = 0

    def feed(self, text: str) -> Iterator[TextDelta | ToolCall]:
        """What is certain after the next piece; the beginning of a block is held back."""
        text, start = self._held + text, 0
        while (end := text.find(self._mark, start)) >= 0:
            before, start = text[start:end], end + len(self._mark)
            if self._inside:
                yield self._call("".join((*self._block, before)))
                self._block = []
            elif before:
                yield TextDelta(before)
            self._inside = not self._inside
        end = len(text) - _tail(text, start=start, mark=self._mark)
        certain, self._held = text[start:end], text[end:]
        if self._inside:
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

    @property
    def _mark(self) -> str:
        return CLOSING if self._inside else OPENING

    def _call(self, block: str) -> ToolCall:
        self._calls += 1
        try:
            parsed = json.loads(block)
            name, arguments = parsed["name"], parsed.get("arguments", {})
        except (ValueError, RecursionError, TypeError, KeyError, AttributeError):
            name, arguments = UNREADABLE, block.strip()
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        return ToolCall(id=f"text{self._calls:05}", name=str(name), arguments=written)


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
    """How many last characters, from `start` on, may be the beginning of a mark."""
    for length in range(min(len(mark) - 1, len(text) - start), 0, -1):
        if mark.startswith(text[-length:]):
            return length
    return 0
