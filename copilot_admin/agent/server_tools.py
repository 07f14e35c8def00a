"""Tools of a model that run on the server: the tools and components of a copilot."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
import json
from typing import Any, TypeAlias
from uuid import UUID

from copilot_admin.agent.client.widgets import DATA_TOOL
from copilot_admin.agent.components.events import ComponentEvents, reference_key
from copilot_admin.agent.components.registry import registry
from copilot_admin.agent.components.runs import ComponentRun
from copilot_admin.agent.prompt.truncation import truncate_rows
from copilot_admin.agent.tools.registry import find_tools
from copilot_admin.agent.tools.tool import ToolContext, ToolMistake, ToolResult
from copilot_admin.agent.values.answer_request import ComponentCalled, ToolExchange
from copilot_admin.agent.values.model_call import ToolCall, ToolSchema, Usage
from copilot_admin.agent.values.spec import CopilotSpec
from copilot_admin.errors import BadArguments, ComponentError, ManifestMismatch
from protocol.components import Content, ContentType, llm_text
from protocol.events import Citation, Event, StatusLevel, StatusUpdate
from protocol.json import JsonObject

NO_OUTPUT = "(no output for the model)"
MAX_RESULT_CHARACTERS = 60_000  # characters of one result: about 15,000 tokens
SystemInputs: TypeAlias = Callable[[str, Sequence[str]], Mapping[str, Any]]


ToolOutput: TypeAlias = Event | Usage | ToolExchange | ComponentCalled
Show: TypeAlias = Callable[[ToolOutput], None]


class ServerTools:
    """Server tools that the model may call in one step.

    Tools and components that this release doesn't have are ignored. `inputs` builds the system
    inputs of a component.
    """

    def __init__(self, spec: CopilotSpec, *, inputs: SystemInputs) -> None:
        self._tools = {tool.schema.name: tool for tool in find_tools(spec.tools)}
        self._components = {
            use.name: (component, use)
            for use in spec.components
            if (component := registry().find(use.name, use.version)) is not None
            and use.name not in reserved_tool_names(spec)
        }
        components = (
            ToolSchema(name=one.name, description=one.description(), parameters=one.parameters())
            for one, _ in self._components.values()
        )
        self.schemas = (*components, *(tool.schema for tool in self._tools.values()))
        self.names = tuple(schema.name for schema in self.schemas)
        self.component_names = frozenset(self._components)
        self._spec = spec
        self._inputs = inputs
        self.citations: list[Citation] = []  # of components, for the end of the answer
        self._used: list[str] = []

    async def carry_out(self, call: ToolCall, *, id: UUID, show: Show) -> ToolResult:
        """Run one of `names` with the id for its artifact; `show` receives its other outputs.

        Raises:
            ToolMistake: The arguments are not valid; the text instructs the model to correct them.
        """
        if call.name in self._components:
            result = await self._run_component(call, id=id, show=show)
        else:
            context = ToolContext(id=id, html_sources=self._spec.html_sources)
            result = await self._tools[call.name].run(call, context=context)
            show(ToolExchange(call.name, call.arguments, result.text))
        self._used.append(call.name)
        return result

    async def _run_component(self, call: ToolCall, *, id: UUID, show: Show) -> ToolResult:
        component, use = self._components[call.name]
        arguments = _parse_arguments(call)
        system = self._inputs(call.name, self._used)
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
            show(event)
        is_refused = False
        try:
            async with aclosing(run.stream()) as outputs:
                async for output in outputs:
                    for event in events.take(output):
                        show(event)
        except ManifestMismatch as error:
            show(_record_call(run, error.public))
            raise ToolMistake(error.public) from error
        except ComponentError as error:
            is_refused = isinstance(error, BadArguments)
        for event in events.end():
            show(event)
        self.citations += events.citations.values()
        for used in run.usage:
            read, written = used["prompt_tokens"], used["completion_tokens"]
            show(Usage(input_tokens=read, output_tokens=written, model=used["name"]))
        if run.error:
            text = f"{title} failed: {run.error}"
            show(StatusUpdate(message=text, level=StatusLevel.WARNING))
        result = result_text(run)
        show(_record_call(run, result))
        if is_refused and not run.outputs:  # another attempt may succeed, but attempts are limited
            raise ToolMistake(result)
        return ToolResult(result, failed=bool(run.error))


def reserved_tool_names(spec: CopilotSpec) -> frozenset[str]:
    """Return the tool names that no component of the copilot may have."""
    return frozenset({DATA_TOOL.name, *spec.tools})


def title_of(name: str) -> str:
    """Return a component's name for people: "Table analyst"."""
    words = name.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]


def _parse_arguments(call: ToolCall) -> JsonObject:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        raise ToolMistake(f"The arguments of {call.name!r} are not valid JSON: {error}.") from error
    if not isinstance(arguments, dict):
        raise ToolMistake(f"The arguments of {call.name!r} must be a JSON object.")
    return arguments


def result_text(run: ComponentRun) -> str:
    """Return a component's result for the model, truncated between lines."""
    lines: list[str] = []
    numbers: dict[tuple[str, str], int] = {}
    for content in map(_cut, run.merged.content):
        line = llm_text([content])
        if line and content.type is ContentType.REFERENCES:
            key = reference_key(content.text.model_dump())
            line = f"[{numbers.setdefault(key, len(numbers) + 1)}] {line}"
        lines += [line] if line else []
    text = truncate_rows("\n".join(lines), limit=MAX_RESULT_CHARACTERS).text
    error = f"error: {run.error}" if run.error else ""
    return "\n".join(filter(None, (text, error))) or NO_OUTPUT


def _cut(content: Content) -> Content:
    if content.type is not ContentType.JSON:
        return content
    text = content.text.model_dump()["data"]
    data = truncate_rows(text, limit=MAX_RESULT_CHARACTERS * 3 // 4).text
    return content.model_copy(update={"text": content.text.model_copy(update={"data": data})})


def _record_call(run: ComponentRun, result: str) -> ComponentCalled:
    return ComponentCalled(
        name=run.component.name,
        version=run.component.version,
        arguments=run.arguments,
        result=result,
        outputs=len(run.outputs),
        ms=int(run.seconds * 1000),
        usage=run.usage,
        metrics=tuple(one.metrics for one in run.merged.content if one.metrics),
        error=run.error,
    )
