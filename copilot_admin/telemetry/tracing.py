"""Whether runs are traced; without a collector OpenTelemetry is not even imported."""

from typing import TYPE_CHECKING

from copilot_admin.config.observability import TraceSettings
from copilot_admin.errors import ConfigurationError
from copilot_admin.telemetry.watchers import WATCHERS

if TYPE_CHECKING:
    from copilot_admin.telemetry.traces import Traces

_tracing: "list[Traces]" = []


def start_tracing(collector: TraceSettings) -> None:
    """Sends the trace of each run that ends from now on, if there is a collector.

    Raises:
        ConfigurationError: The packages that it takes are not installed.
    """
    if not collector.is_enabled:
        return
    try:
        from copilot_admin.telemetry.traces import Traces
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages for traces are missing. "
            "Install them: pip install --require-hashes -r requirements/traces.txt"
        ) from error
    traces = Traces(collector)
    _tracing.append(traces)
    WATCHERS.append(traces.take)


def stop_tracing(*, timeout: float) -> None:
    """Sends what waits, for so many seconds at the most.

    Args:
        timeout: Seconds.
    """
    while _tracing:
        traces = _tracing.pop()
        WATCHERS.remove(traces.take)
        traces.stop(timeout=timeout)


def wants_words() -> bool:
    """Whether traces are to have words, so that those of models are kept until their run ends."""
    return any(traces.with_content for traces in _tracing)
