"""What the model may call on the server: the tools and the components of a copilot."""

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial
import json
from typing import Any, TypeAlias
from uuid import UUID

from copilot_admin.agent.client.widgets import DATA_TOOL
from copilot_admin.agent.components.base import Component
from copilot_admin.agent.components.events import ComponentEvents, reference_key
from copilot_admin.agent.components.registry import registry
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.concurrency import is_long, run_in_thread_if
from copilot_admin.agent.prompt.data_text import shortened
from copilot_admin.agent.tools.registry import find_tools
from copilot_admin.agent.tools.tool import ToolContext, ToolResult
from copilot_admin.agent.tools.tool_arguments import ToolMistake
from copilot_admin.agent.values.answer_request import ComponentCalled, ServerTool
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema, Usage
from copilot_admin.agent.values.spec import ComponentUse, CopilotSpec
from copilot_admin.errors import BadArguments, ComponentError, ManifestMismatch
from protocol.components import Content, ContentType, llm_text
from protocol.events import Citation, Event, StatusLevel, StatusUpdate
from protocol.json import JsonObject

NOTHING_FOR_THE_MODEL = "(no output for the model)"
MOST_FOR_THE_MODEL = 60_000  # characters of one result: about 15,000 tokens
SystemInputs: TypeAlias = Callable[[str, Sequence[str]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Cited:
    """What a component rests on, to be cited after the answer."""

    citations: tuple[Citation, ...]


ToolOutput: TypeAlias = Event | Usage | ServerTool | ComponentCalled | Cited | ToolResult


class ServerTools:
    """The tools and components of one copilot, ready to be called in one leg.

    Attributes:
        schemas: What the model is offered.
        names: Under which the model calls them.
        component_names: Those of them that are components.

    Args:
        spec: Of the copilot. What it names and this release does not know is passed over.
        inputs: What the system passes to components.
        is_large: Making the inputs takes so long that others would wait for it.
    """

    def __init__(self, spec: CopilotSpec, *, inputs: SystemInputs, is_large: bool = False) -> None:
        self._tools = {tool.schema.name: tool for tool in find_tools(spec.tools)}
        self._components = {
            use.name: (component, use)
            for use in spec.components
            if (component := registry().find(use.name, use.version)) is not None
            and use.name not in taken_names(spec)
        }
        components = (_schema(component) for component, _ in self._components.values())
        self.schemas = (*components, *(tool.schema for tool in self._tools.values()))
        self.names = tuple(schema.name for schema in self.schemas)
        self.component_names = frozenset(self._components)
        self._spec = spec
        self._inputs = inputs
        self._is_large = is_large
        self._used: list[str] = []

    async def carry_out(self, call: ToolCall, *, id: UUID) -> AsyncGenerator[ToolOutput, None]:
        """Runs what the model called; the result is the last step.

        Args:
            call: Of one of `names`.
            id: A uuid for what the call makes.

        Raises:
            ToolMistake: The arguments are wrong; the text tells the model what would be right.
        """
        component, use = self._components.get(call.name, (None, None))
        if component is None or use is None:
            context = ToolContext(id=id, html_sources=self._spec.html_sources)
            result = await self._tools[call.name].run(call, context=context)
            yield ServerTool(call.name, call.arguments, result.text)
            yield result
        else:
            async with aclosing(self._component(call, component, use, id=id)) as steps:
                async for step in steps:
                    yield step
        self._used.append(call.name)

    async def _component(
        self, call: ToolCall, component: type[Component], use: ComponentUse, *, id: UUID
    ) -> AsyncGenerator[ToolOutput, None]:
        arguments = await run_in_thread_if(is_long(call), partial(_arguments, call))
        # What is first asked for makes texts of all that the request brings.
        system = await run_in_thread_if(
            self._is_large, partial(self._inputs, call.name, self._used)
        )
        run = ComponentRun(component, arguments, system=system, config=use.config)
        title = title_of(component.name)
        events = ComponentEvents(
            title=title,
            description=component.summary(),
            id=id,
            stream_all_text=self._spec.stream_all_text,
            show_steps=self._spec.show_steps,
        )
        for event in events.begin(arguments):
            yield event
        is_refused = False
        try:
            async with aclosing(_shown(run, events)) as shown:
                async for event in shown:
                    yield event
        except ManifestMismatch as error:
            yield _called(run, error.public)
            raise ToolMistake(error.public) from error
        except ComponentError as error:
            is_refused = isinstance(error, BadArguments)
        for step in _ending(run, events, title=title):
            yield step
        result = told_of(run)
        yield _called(run, result)
        if is_refused and not run.outputs:  # another try may do better, but not for ever
            raise ToolMistake(result)
        yield ToolResult(result, failed=bool(run.error))


def taken_names(spec: CopilotSpec) -> frozenset[str]:
    """The names of tools that no component of the copilot may have."""
    return frozenset({DATA_TOOL.name, *spec.tools})


def title_of(name: str) -> str:
    """The name of a component for people: "Table analyst"."""
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


def _schema(component: type[Component]) -> ToolSchema:
    return ToolSchema(
        name=component.name,
        description=component.description(),
        parameters=component.parameters(),
    )


async def _shown(run: ComponentRun, events: ComponentEvents) -> AsyncGenerator[Event, None]:
    async with aclosing(run.stream()) as outputs:
        async for output in outputs:
            for event in events.take(output):
                yield event


def _ending(run: ComponentRun, events: ComponentEvents, *, title: str) -> Iterator[ToolOutput]:
    yield from events.end()
    if events.citations:
        yield Cited(tuple(events.citations.values()))
    yield from map(_usage, run.usage)
    if run.error:
        yield StatusUpdate(message=f"{title} failed: {run.error}", level=StatusLevel.WARNING)


def _arguments(call: ToolCall) -> JsonObject:
    """The JSON object that the model wrote.

    Raises:
        ToolMistake: It is none.
    """
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolMistake(f"The arguments of {call.name!r} are no JSON: {error}.") from error
    if not isinstance(arguments, dict):
        raise ToolMistake(f"The arguments of {call.name!r} must be a JSON object.")
    return arguments


def told_of(run: ComponentRun) -> str:
    """What the model is told of a call: what it may see, cut between lines where it is too much."""
    text = "\n".join(_lines(map(_cut, run.merged.content)))
    parts = [shortened(text, limit=MOST_FOR_THE_MODEL), f"error: {run.error}" if run.error else ""]
    return "\n".join(filter(None, parts)) or NOTHING_FOR_THE_MODEL


def _lines(contents: Iterable[Content]) -> Iterator[str]:
    numbers: dict[tuple[str, str], int] = {}
    for content in contents:
        line = llm_text([content])
        if line and content.type is ContentType.REFERENCES:
            key = reference_key(content.text.model_dump())
            line = f"[{numbers.setdefault(key, len(numbers) + 1)}] {line}"
        if line:
            yield line


def _cut(content: Content) -> Content:
    if content.type is not ContentType.JSON:
        return content
    data = shortened(content.text.model_dump()["data"], limit=MOST_FOR_THE_MODEL * 3 // 4)
    return content.model_copy(update={"text": content.text.model_copy(update={"data": data})})


def _called(run: ComponentRun, result: str) -> ComponentCalled:
    metrics = [content.metrics for content in run.merged.content if content.metrics]
    return ComponentCalled(
        name=run.component.name,
        version=run.component.version,
        arguments=run.arguments,
        result=result,
        outputs=len(run.outputs),
        ms=int(run.seconds * 1000),
        usage=run.usage,
        metrics=tuple(metrics),
        error=run.error,
    )


def _usage(usage: Mapping[str, Any]) -> Usage:
    return Usage(
        input_tokens=usage["prompt_tokens"],
        output_tokens=usage["completion_tokens"],
        model=usage["name"],
    )
