"""One log line per run, and a throttle for repeated warnings."""

from collections import Counter
from collections.abc import Callable, Mapping
import json
import logging
from threading import Lock
from time import monotonic
from typing import TypeAlias

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.agent.values.tracing import ModelCallTrace, ToolTrace
from copilot_admin.telemetry.finished_runs import NS_PER_MS, FinishedRun

WARNING_INTERVAL_SECONDS = 60.0

Value: TypeAlias = str | int | float | bool | None
_NO_USAGE = Usage()
logger = logging.getLogger("copilot_admin.runs")


def _store_ms(run: FinishedRun) -> int | None:
    finishing = run.times.finishing
    return None if finishing is None else (run.times.ended - finishing) // NS_PER_MS


# Fields that are None or "" are left out. No text of a question or answer is logged.
FIELDS: Mapping[str, Callable[[FinishedRun], Value]] = {
    "run": lambda run: str(run.run_id),
    "trace": lambda run: run.trace_id,
    "copilot": lambda run: run.copilot,
    "version": lambda run: run.version,
    "caller": lambda run: run.caller,
    "user": lambda run: run.user,
    "trial": lambda run: run.is_trial or None,
    "outcome": lambda run: run.outcome.value,
    "error": lambda run: run.error_code,
    "started": lambda run: run.started_at.isoformat(timespec="milliseconds"),
    "ms": lambda run: run.ms,
    "first_ms": lambda run: run.first_ms,
    "journal_ms": _store_ms,
    "generation": lambda run: run.generation,
    "provider": lambda run: run.provider,
    "model": lambda run: run.model,
    "model_calls": lambda run: sum(isinstance(one, ModelCallTrace) for one in run.facts) or None,
    "tools": lambda run: sum(isinstance(one, ToolTrace) for one in run.facts) or None,
    "client_calls": lambda run: len(run.client_calls) or None,
    "input_tokens": lambda run: None if run.usage is None else run.usage.input_tokens,
    "cached_tokens": lambda run: (run.usage or _NO_USAGE).cached_tokens or None,
    "output_tokens": lambda run: None if run.usage is None else run.usage.output_tokens,
    "reasoning_tokens": lambda run: (run.usage or _NO_USAGE).reasoning_tokens or None,
    "tokens_from": lambda run: None if run.usage is None else run.usage.source.value,
    "cost": lambda run: None if run.cost is None else float(run.cost),
    "cost_confidence": lambda run: run.cost_confidence and run.cost_confidence.value,
}


def log_fields(run: FinishedRun) -> dict[str, Value]:
    values = {name: read(run) for name, read in FIELDS.items()}
    return {name: value for name, value in values.items() if value is not None and value != ""}


def log_run(run: FinishedRun) -> None:
    if logger.isEnabledFor(logging.INFO):
        fields = log_fields(run)
        logger.info("%s", json.dumps(fields), extra={"fields": fields})


class ThrottledWarnings:
    """Writes each kind of warning at most once a minute, with the number of those left out."""

    def __init__(self, logger: logging.Logger, clock: Callable[[], float] = monotonic) -> None:
        self._logger = logger
        self._clock = clock
        self._logged_at: dict[str, float] = {}
        self._skipped = Counter[str]()
        self._lock = Lock()

    def warn(self, kind: str, line: str, *values: object) -> None:
        """Log `line % values`, unless a warning of its kind was logged within the last minute."""
        now = self._clock()
        with self._lock:
            if (
                now - self._logged_at.get(kind, -WARNING_INTERVAL_SECONDS)
                < WARNING_INTERVAL_SECONDS
            ):
                self._skipped[kind] += 1
                return
            self._logged_at[kind] = now
            skipped = self._skipped.pop(kind, 0)
        self._logger.warning("%s; %d more since the line before", line % values, skipped)
