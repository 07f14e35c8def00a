"""Runs a component: checks its arguments, keeps it in a task of its own, and bounds what it does.

A component is somebody's code. Whatever it raises comes out of here as one of our errors, so that
no component ever breaks an answer.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
import inspect
import json
import logging
import re
from time import monotonic
from typing import Any

from copilot_admin.agent.components.base import Component
from copilot_admin.agent.toolkits.texts import quoted
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
from protocol.json import JsonObject
from protocol.json_schema import argument_faults
from protocol.walk import weighs_more

logger = logging.getLogger(__name__)

LONGEST_SECONDS = 120.0
CLOSING_SECONDS = 2.0  # for what a component does last when nobody wants its outputs any more
CHECKED_INLINE = 2_000  # values of arguments: 7 ms; 90,000 rows take 0.3 s
MOST_OUTPUTS = 10_000
MOST_CHARACTERS = 8 * 1024 * 1024  # of JSON; a chart of 100,000 points fits


@dataclass(frozen=True, slots=True)
class _End:
    """No output follows; with what was raised, if anything was."""

    error: BaseException | None = None


@dataclass(slots=True)
class ComponentRun:
    """One call of a component, and what has come of it so far.

    Attributes:
        component: What is called.
        arguments: What the caller filled in, checked against the manifest.
        system: The inputs that the system passes besides.
        config: What the copilot's builder set.
        as_program: Calls `run`, with the arguments as its message; what it returns is one element.
        streamed: `run` is to give its pieces as they come, each as an element.
        outputs: What it has yielded.
        seconds: How long it took.
        error: Why it gave no whole result, for people; empty when it did.
    """

    component: type[Component]
    arguments: JsonObject
    system: Mapping[str, Any] = field(default_factory=dict)
    config: Mapping[str, Any] = field(default_factory=dict)
    as_program: bool = False
    streamed: bool = False
    outputs: list[ComponentOutput] = field(default_factory=list)
    seconds: float = 0.0
    error: str = ""
    _merged: tuple[int, ComponentOutput] | None = field(default=None, repr=False)

    @property
    def merged(self) -> ComponentOutput:
        """What it has yielded, as the result without streaming; put together once."""
        if self._merged is None or self._merged[0] != len(self.outputs):
            self._merged = len(self.outputs), merge(self.outputs)
        return self._merged[1]

    @property
    def usage(self) -> tuple[Mapping[str, Any], ...]:
        """The tokens of the models it asked."""
        return total_usage(self.merged)

    async def stream(self) -> AsyncGenerator[ComponentOutput, None]:
        """Runs the component once and passes on its outputs as they come.

        Raises:
            ManifestMismatch: The arguments break the manifest.
            BadArguments: The component says that they are wrong.
            ComponentFailed: It broke down, took too long or gave too much.
        """
        started = monotonic()
        try:
            await self._check_arguments()
            async with aclosing(self._isolated()) as outputs:
                async for output in outputs:
                    self.outputs.append(output)
                    yield output
        except (BadArguments, ComponentFailed) as error:
            self.error = error.public
            raise
        finally:
            self.seconds = monotonic() - started

    async def _check_arguments(self) -> None:
        check = partial(check_arguments, self.component, self.arguments)
        if weighs_more(self.arguments.values(), than=CHECKED_INLINE, text=MOST_CHARACTERS):
            await asyncio.to_thread(check)
        else:
            check()

    async def _isolated(self) -> AsyncGenerator[ComponentOutput, None]:
        """The outputs, made in a task of their own: timeouts and cancellations stay in it.

        So whoever leaves waits for its closing only as long as is reasonable.
        """
        queue: asyncio.Queue[ComponentOutput | _End] = asyncio.Queue()
        task = asyncio.get_running_loop().create_task(
            self._pump(queue), name=f"component {self.component.name}"
        )
        try:
            while not isinstance(output := await queue.get(), _End):
                yield output
        finally:
            task.cancel()
            await asyncio.wait({task}, timeout=CLOSING_SECONDS)
        if output.error is not None:
            raise self._ours(output.error)

    async def _pump(self, queue: "asyncio.Queue[ComponentOutput | _End]") -> None:
        end = _End()
        try:
            await self._produce(queue)
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001
            # A component's boundary (ADR 7): it ends neither its caller nor the server.
            end = _End(error)
        queue.put_nowait(end)

    async def _produce(self, queue: "asyncio.Queue[ComponentOutput | _End]") -> None:
        count = characters = 0
        try:
            async with asyncio.timeout(LONGEST_SECONDS) as limit:
                instance = self.component.made(self.config)
                stream = self._outputs_of(instance)
                async with aclosing(stream) as outputs:
                    async for output in outputs:
                        count += 1
                        characters += _size(output)
                        if count > MOST_OUTPUTS or characters > MOST_CHARACTERS:
                            raise ComponentFailed(f"{self._name} gave more than is taken in.")
                        queue.put_nowait(output)
                        await asyncio.sleep(0)  # one that never waits would starve all others
        except TimeoutError:
            if not limit.expired():
                raise
            raise ComponentFailed(
                f"{self._name} did not end within {LONGEST_SECONDS:g} seconds."
            ) from None

    def _outputs_of(self, instance: Component) -> AsyncGenerator[ComponentOutput, None]:
        if not self.as_program:
            return instance.stream(**{**self.system, **self.arguments})
        instance.system = self.system
        message = Message(dict(self.arguments))
        return _returned(instance, message, streamed=self.streamed)

    @property
    def _name(self) -> str:
        return f"The component '{self.component.name}'"

    def _ours(self, error: BaseException) -> BadArguments | ComponentFailed:
        match error:
            case BadArguments() | ComponentFailed():
                return error
            case RunError():
                return ComponentFailed(f"{self._name} could not ask its model. {error.public}")
            case ValueError() if not isinstance(error, ContractBreach):
                return BadArguments(_sentence(error) or f"{self._name} refused its arguments.")
        logger.error("%s broke down", self._name, exc_info=error)
        return ComponentFailed(f"{self._name} broke down. The error has been recorded.")


def check_arguments(component: type[Component], arguments: JsonObject) -> None:
    """Makes sure that arguments are those of the manifest.

    Raises:
        ManifestMismatch: One is missing, unknown, or of another type; the text names it.
    """
    schema = component.parameters()
    known = schema.get("properties")
    names = list(known) if isinstance(known, Mapping) else []
    unknown = [name for name in arguments if name not in names]
    if unknown:
        raise ManifestMismatch(
            f"{component.name} has no parameter {quoted(unknown[0])}. "
            f"Its parameters: {', '.join(names) or 'none'}."
        )
    faults = argument_faults(arguments, schema)
    if faults:
        raise ManifestMismatch(f"Wrong arguments for {component.name}: {'; '.join(faults[:3])}.")


def arguments_in(
    component: type[Component], parameters: Mapping[str, Any], *, question: str = ""
) -> JsonObject:
    """The arguments among the parameters of a request.

    A question takes the place of the only required parameter that is missing.
    Source: `_sys_origin_query` of the component API.
    """
    given = {name: value for name, value in parameters.items() if not is_reserved(name)}
    required = component.parameters().get("required")
    missing = [name for name in required if name not in given] if isinstance(required, list) else []
    if len(missing) == 1 and question:
        return {**given, str(missing[0]): question}
    return given


async def _returned(
    component: Component, message: Message, *, streamed: bool
) -> AsyncGenerator[ComponentOutput, None]:
    named = {"stream": True} if streamed else {}
    configs = component.system.get("model_configs")
    if isinstance(configs, Mapping) and "temperature" in configs:
        named["temperature"] = configs["temperature"]
    returned = await component.run(message, **_taken(component.run, named))
    if isinstance(returned.content, AsyncGenerator):
        async with aclosing(returned.content) as pieces:
            async for piece in pieces:
                yield create_output("json", json.dumps(piece, ensure_ascii=False))
        if usage := getattr(returned, "token_usage", None):
            yield create_output("json", json.dumps(""), usage=usage)
        return
    usage = getattr(returned, "token_usage", None)
    yield create_output("json", json.dumps(returned.content, ensure_ascii=False), usage=usage)


def _taken(run: Callable[..., object], named: Mapping[str, Any]) -> dict[str, Any]:
    parameters = inspect.signature(run).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return dict(named)
    return {name: value for name, value in named.items() if name in parameters}


def _size(output: object) -> int:
    """About how many characters an output has.

    Raises:
        ContractBreach: It is none.
    """
    if not isinstance(output, ComponentOutput):
        raise ContractBreach(
            f"tool_eval yields {type(output).__name__}, not what create_output makes."
        )
    return sum(
        len(value) if isinstance(value, str) else len(repr(value))
        for content in output.content
        for value in (
            *content.text.model_dump().values(),
            content.raw_data,
            content.usage,
            content.metrics,
        )
    )


def _sentence(error: ValueError) -> str:
    return re.sub(r"\s+", " ", str(error)).strip()[:1000]
