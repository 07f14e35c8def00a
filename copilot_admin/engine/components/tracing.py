"""Traces components: a line in the log for each call, when it has ended, with none of its content.

Source: the two decorators of the component contract. The base puts them on every component, so
nobody has to write them; who does, as the contract has it, gets one trace all the same.
"""

from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import aclosing, closing, contextmanager
from dataclasses import dataclass
from functools import wraps
import inspect
import logging
from time import monotonic
from typing import Any, TypeVar, cast

logger = logging.getLogger(__name__)
F = TypeVar("F", bound=Callable[..., Any])

_MARK = "_is_traced"


@dataclass(slots=True)
class _Span:
    outputs: int = 0


def components_run_trace(run: F) -> F:
    """Traces `run`, async or not; its signature stays visible.

    Args:
        run: Takes a message and gives one.
    """
    if hasattr(run, _MARK):
        return run

    @wraps(run)
    async def traced(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _span(self, "run") as span:
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
    with _span(component, "tool_eval") as span:
        async with aclosing(outputs):
            async for output in outputs:
                span.outputs += 1
                yield output


def _outputs(component: Any, outputs: Generator[Any, None, None]) -> Generator[Any, None, None]:
    with _span(component, "tool_eval") as span, closing(outputs):
        for output in outputs:
            span.outputs += 1
            yield output


@contextmanager
def _span(component: Any, action: str) -> Iterator[_Span]:
    span, started, error = _Span(), monotonic(), ""
    try:
        yield span
    except BaseException as failure:
        error = type(failure).__name__
        raise
    finally:
        facts = {
            "component": component.name,
            "version": component.version,
            "action": action,
            "outputs": span.outputs,
            "ms": int((monotonic() - started) * 1000),
            "error": error,
        }
        words = " ".join(f"{key}={value}" for key, value in facts.items() if value != "")
        logger.debug("traced %s", words, extra={"trace": facts})


def _marked(traced: Any) -> Any:
    setattr(traced, _MARK, True)
    return traced
