"""One call of a component: arguments checked, time and outputs limited, errors translated.

A component is third-party code. This module converts whatever it raises into one of our errors,
so that no component breaks an answer (ADR 7).
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
import inspect
import json
import logging
from time import monotonic
from typing import Any, TypeAlias

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.text import quote
from copilot_admin.errors import BadArguments, ComponentFailed, ManifestMismatch, RunError
from protocol.components import (
    ComponentOutput,
    ContractBreach,
    Message,
    create_output,
    is_reserved,
    merge,
    total_usage,
)
from protocol.json import JsonObject, list_of, object_of
from protocol.json_schema import argument_faults

logger = logging.getLogger(__name__)

MAX_SECONDS = 120.0
CLOSING_SECONDS = 2.0  # for a component to clean up after its caller has left
MAX_OUTPUTS = 10_000
MAX_CHARACTERS = 8 * 1024 * 1024  # a chart of 100,000 points fits
_MAX_SENTENCE = 1_000  # characters
_Queue: TypeAlias = "asyncio.Queue[ComponentOutput | None]"


@dataclass(slots=True)
class ComponentRun:
    """One call of a component, and its results so far."""

    component: type[Component]
    arguments: JsonObject
    system: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)  # settings of the copilot's builder
    as_program: bool = False  # call `run` instead of `tool_eval`; its value is one element
    streamed: bool = False  # make `run` return its pieces, each an element
    outputs: list[ComponentOutput] = field(default_factory=list)
    merged: ComponentOutput = field(default_factory=ComponentOutput)  # when the call has ended
    seconds: float = 0.0
    error: str = ""  # the reason for an incomplete result, for people

    @property
    def usage(self) -> tuple[Mapping[str, Any], ...]:
        """Return the tokens of the models that were called."""
        return total_usage(self.merged)

    async def stream(self) -> AsyncGenerator[ComponentOutput, None]:
        """Run the component and yield its outputs; call it only one time.

        Raises:
            ManifestMismatch: The arguments don't fit the manifest.
            BadArguments: The component rejected them.
            ComponentFailed: It broke down, took too long or yielded too much.
        """
        started = monotonic()
        queue: _Queue = asyncio.Queue()
        task: asyncio.Task[None] | None = None
        try:
            await asyncio.to_thread(check_arguments, self.component, self.arguments)
            # A task of its own confines timeouts, cancellations, and code that ignores them.
            task = asyncio.create_task(self._produce(queue), name=f"component {self._name}")
            task.add_done_callback(lambda done: _end(done, queue))
            while (output := await queue.get()) is not None:
                self.outputs.append(output)
                yield output
            await task
        except (BadArguments, ComponentFailed) as error:
            self.error = error.public
            raise
        finally:
            if task is not None:
                task.cancel()
                await asyncio.wait({task}, timeout=CLOSING_SECONDS)
            self.seconds = monotonic() - started
            self.merged = merge(self.outputs)

    async def _produce(self, queue: _Queue) -> None:
        count = characters = 0
        try:
            async with asyncio.timeout(MAX_SECONDS) as limit, aclosing(self._start()) as outputs:
                async for output in outputs:
                    if not isinstance(output, ComponentOutput):
                        raise ContractBreach("tool_eval yields what create_output makes.")
                    count += 1
                    characters += len(repr(output))
                    if count > MAX_OUTPUTS or characters > MAX_CHARACTERS:
                        raise ComponentFailed(f"{self._name} gave more than is taken in.")
                    queue.put_nowait(output)
                    await asyncio.sleep(0)  # a component that never waits would starve all others
        except TimeoutError as error:
            if not limit.expired():
                raise self._translate(error) from error
            late = f"{self._name} did not end within {MAX_SECONDS:g} seconds."
            raise ComponentFailed(late) from None
        except (Exception, SystemExit, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            raise self._translate(error) from error

    def _start(self) -> AsyncGenerator[ComponentOutput, None]:
        instance = self.component.from_config(self.config)
        if self.as_program:
            instance.system = self.system
            return _run_program(instance, self.arguments, streamed=self.streamed)
        return instance.stream(**{**self.system, **self.arguments})

    @property
    def _name(self) -> str:
        return f"The component '{self.component.name}'"

    def _translate(self, error: BaseException) -> BadArguments | ComponentFailed:
        match error:
            case BadArguments() | ComponentFailed():
                return error
            case RunError():
                return ComponentFailed(f"{self._name} could not ask its model. {error.public}")
            case ValueError() if not isinstance(error, ContractBreach):
                sentence = " ".join(str(error).split())[:_MAX_SENTENCE]
                return BadArguments(sentence or f"{self._name} refused its arguments.")
        logger.error("%s broke down", self._name, exc_info=error)
        return ComponentFailed(f"{self._name} broke down. The error has been recorded.")


def _is_cancelled() -> bool:
    """Return true if the caller has left, rather than that a task of the component was cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _end(task: "asyncio.Task[None]", queue: _Queue) -> None:
    if not task.cancelled():
        task.exception()  # retrieved so that asyncio doesn't report it
    queue.put_nowait(None)


def check_arguments(component: type[Component], arguments: JsonObject) -> None:
    """Check arguments against the manifest.

    Raises:
        ManifestMismatch: One is missing, unknown, or of another type; the text has its name.
    """
    schema = component.parameters()
    names = list(object_of(schema.get("properties")))
    unknown = [name for name in arguments if name not in names]
    if unknown:
        raise ManifestMismatch(
            f"{component.name} has no parameter {quote(unknown[0])}. "
            f"Its parameters: {', '.join(names) or 'none'}."
        )
    faults = argument_faults(arguments, schema)
    if faults:
        raise ManifestMismatch(f"Wrong arguments for {component.name}: {'; '.join(faults[:3])}.")


def arguments_in(
    component: type[Component], parameters: Mapping[str, Any], *, question: str = ""
) -> JsonObject:
    """Return the arguments among the parameters of a request.

    A question is the value of the only required parameter that is missing.
    Source: `_sys_origin_query` of the component API.
    """
    given = {name: value for name, value in parameters.items() if not is_reserved(name)}
    required = list_of(component.parameters().get("required"))
    missing = [str(name) for name in required if name not in given]
    return {**given, missing[0]: question} if len(missing) == 1 and question else given


async def _run_program(
    component: Component, arguments: JsonObject, *, streamed: bool
) -> AsyncGenerator[ComponentOutput, None]:
    options: dict[str, Any] = {"stream": True} if streamed else {}
    configs = component.system.get("model_configs")
    if isinstance(configs, Mapping) and "temperature" in configs:
        options["temperature"] = configs["temperature"]
    component.loop = asyncio.get_running_loop()
    try:
        run: Callable[..., Any] = component.run
        if not inspect.iscoroutinefunction(run):
            run = partial(asyncio.to_thread, run)
        message = await run(Message(dict(arguments)), **options)
        content: Any = message.content
        if is_stream := isinstance(content, AsyncGenerator):
            async with aclosing(content):
                async for piece in content:
                    yield create_output("json", json.dumps(piece, ensure_ascii=False))
        elif isinstance(content, Iterator):
            content = "".join(content)
        usage = getattr(message, "token_usage", None)
        if usage or not is_stream:
            value = "" if is_stream else content
            yield create_output("json", json.dumps(value, ensure_ascii=False), usage=usage)
    finally:
        component.close()
