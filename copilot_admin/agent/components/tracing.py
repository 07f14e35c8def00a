"""Traces components: a line in the log for each call, when it has ended, with none of its content.

Source: the two decorators of AppBuilder's component contract. The base puts them on every component,
so nobody has to write them; who does, as the contract has it, gets one trace all the same.
"""

from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing, closing
from functools import wraps
import inspect
import logging
from time import monotonic
from typing import Any, Self, TypeVar, cast

logger = logging.getLogger(__name__)
F = TypeVar("F", bound=Callable[..., Any])

_MARK = "_is_traced"


class _Span:
    """One traced call: it leaves its line when it is over, well or not."""

    def __init__(self, component: Any, action: str) -> None:
        self.outputs = 0
        self._component = component
        self._action = action
        self._started = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        facts = {
            "component": self._component.name,
            "version": self._component.version,
            "action": self._action,
            "outputs": self.outputs,
            "ms": int((monotonic() - self._started) * 1000),
            "error": kind.__name__ if kind else "",
        }
        words = " ".join(f"{key}={value}" for key, value in facts.items() if value != "")
        logger.debug("traced %s", words, extra={"trace": facts})


def components_run_trace(run: F) -> F:
    """Traces `run`, async or not; its signature stays visible.

    Args:
        run: Takes a message and gives one.
    """
    if hasattr(run, _MARK):
        return run

    @wraps(run)
    async def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _Span(self, "run") as span:
            result = run(self, *args, **kwargs)
            message = await result if inspect.isawaitable(result) else result
            span.outputs = 1
            return message

    return cast("F", _marked(traced))


def components_run_stream_trace(tool_eval: F) -> F:
    """Traces `tool_eval`, an async or a plain generator; its signature stays visible.

    Args:
        tool_eval: Yields outputs. What is wrong with the call itself is still raised by the call.
    """
    if hasattr(tool_eval, _MARK):
        return tool_eval

    @wraps(tool_eval)
    def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = tool_eval(self, *args, **kwargs)
        if isinstance(outputs, AsyncGenerator):
            return _async_outputs(self, outputs)
        return _outputs(self, outputs) if isinstance(outputs, Generator) else outputs

    return cast("F", _marked(traced))


async def _async_outputs(
    component: Any, outputs: AsyncGenerator[Any, None]
) -> AsyncGenerator[Any, None]:
    with _Span(component, "tool_eval") as span:
        async with aclosing(outputs):
            async for output in outputs:
                span.outputs += 1
                yield output


def _outputs(component: Any, outputs: Generator[Any, None, None]) -> Generator[Any, None, None]:
    with _Span(component, "tool_eval") as span, closing(outputs):
        for output in outputs:
            span.outputs += 1
            yield output


def _marked(traced: Any) -> Any:
    setattr(traced, _MARK, True)
    return traced
