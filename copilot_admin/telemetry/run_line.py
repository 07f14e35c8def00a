"""One line of the log for each run: what it was, how it ended, how long it took, what it used."""

from collections.abc import Callable, Mapping
import json
import logging
from typing import TypeAlias

from copilot_admin.agent.values.model_call import Usage
from copilot_admin.agent.values.witness import ModelAsked, ToolRan
from copilot_admin.telemetry.ended_run import EndedRun

_NO_USAGE = Usage()
_NS_PER_MS = 1_000_000
Value: TypeAlias = str | int | float | bool | None
logger = logging.getLogger("copilot_admin.runs")

# A field that is None or "" is left out. No words of question or answer stand here.
FIELDS: Mapping[str, Callable[[EndedRun], Value]] = {
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
    "journal_ms": lambda run: _journal_ms(run),
    "generation": lambda run: run.generation,
    "provider": lambda run: run.provider,
    "model": lambda run: run.model,
    "model_calls": lambda run: sum(isinstance(one, ModelAsked) for one in run.facts) or None,
    "tools": lambda run: sum(isinstance(one, ToolRan) for one in run.facts) or None,
    "client_calls": lambda run: len(run.client_calls) or None,
    "input_tokens": lambda run: None if run.usage is None else run.usage.input_tokens,
    "cached_tokens": lambda run: (run.usage or _NO_USAGE).cached_tokens or None,
    "output_tokens": lambda run: None if run.usage is None else run.usage.output_tokens,
    "reasoning_tokens": lambda run: (run.usage or _NO_USAGE).reasoning_tokens or None,
    "tokens_from": lambda run: None if run.usage is None else run.usage.source.value,
    "cost": lambda run: None if run.cost is None else float(run.cost),
    "cost_confidence": lambda run: run.cost_confidence and run.cost_confidence.value,
}


def line_of(run: EndedRun) -> dict[str, Value]:
    """The fields of a run's line."""
    return {
        name: value
        for name, read in FIELDS.items()
        if (value := read(run)) is not None and value != ""
    }


def write_line(run: EndedRun) -> None:
    """Writes the line of a run."""
    if logger.isEnabledFor(logging.INFO):
        fields = line_of(run)
        logger.info("%s", json.dumps(fields), extra={"fields": fields})


def _journal_ms(run: EndedRun) -> int | None:
    """How long the answer was held while the journal wrote its end."""
    finishing = run.moments.finishing
    return None if finishing is None else (run.moments.ended - finishing) // _NS_PER_MS
