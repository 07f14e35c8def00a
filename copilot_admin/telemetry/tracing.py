"""Tracing of finished runs; the packages for it are imported only if a collector is configured."""

from typing import TYPE_CHECKING

from copilot_admin.config.observability import TraceSettings
from copilot_admin.errors import ConfigurationError
from copilot_admin.telemetry.finished_runs import LISTENERS

if TYPE_CHECKING:
    from copilot_admin.telemetry.spans import Tracer

_tracers: list["Tracer"] = []


def start_tracing(settings: TraceSettings) -> None:
    """Trace runs from now on, if a collector is configured.

    Raises:
        ConfigurationError: The packages for traces are not installed.
    """
    if not settings.is_enabled:
        return
    try:
        from copilot_admin.telemetry.spans import Tracer
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, but the packages for traces are missing. "
            "Install them: pip install --require-hashes -r requirements/traces.txt"
        ) from error
    tracer = Tracer(settings)
    _tracers.append(tracer)
    LISTENERS.append(tracer.export)


def stop_tracing(*, timeout: float) -> None:
    """Export what is queued, for so many seconds at most."""
    while _tracers:
        tracer = _tracers.pop()
        LISTENERS.remove(tracer.export)
        tracer.shut_down(timeout=timeout)


def wants_content() -> bool:
    return any(tracer.with_content for tracer in _tracers)
