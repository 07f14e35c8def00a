"""Measures of series, calculated in a child process: the server needn't load pandas (60 MB)."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
import json
from typing import Any

from copilot_admin.agent.toolkits.returns.options import MeasuredSeries
from copilot_admin.agent.worker_processes import (
    FailureReason,
    Limits,
    TaskFailed,
    WorkerPool,
    WorkersBusy,
)
from protocol.json import Json, JsonObject


def perform(order: JsonObject, body: bytes) -> Iterator[Json]:
    """Measure series in a child process."""
    from copilot_admin.agent.toolkits.returns.measures import measure_series

    try:
        yield asdict(measure_series(**json.loads(body)))
    except ValueError as error:
        yield {"error": str(error)}


POOL = WorkerPool(perform, limits=Limits(memory=1024**3, cpu_seconds=15))


async def measure(series: object, name: str, *, settings: Mapping[str, Any]) -> MeasuredSeries:
    """Measure series of values; see `returns.measures.measure_series`.

    Raises:
        ValueError: The series can't be read or measured; the text describes valid input.
    """
    result: dict[str, Any] = {}
    try:
        body = json.dumps({"series": series, "measure": name, "settings": dict(settings)})
    except (TypeError, RecursionError) as error:
        raise ValueError("There is no series that can be read. Give plain JSON values.") from error
    try:
        await POOL.run({}, body, on_reply=result.update)  # type: ignore[arg-type]  # an object, as above
    except WorkersBusy:
        raise ValueError(
            "The server calculates as much as it can. Ask again in a minute."
        ) from None
    except TaskFailed as error:
        is_limit = error.reason in (FailureReason.TIME, FailureReason.MEMORY)
        advice = "Send fewer values." if is_limit else "Ask again."
        raise ValueError(f"The calculation wasn't finished. {advice}") from error
    if "error" in result:
        raise ValueError(result["error"])
    return MeasuredSeries(**result)
