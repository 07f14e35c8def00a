"""What the journal of an installation holds, read behind the server's back."""

from collections.abc import Mapping
from dataclasses import dataclass
import time

from benchmarks.servers import Installation

NOT_KEPT = "The answer could not be recorded"  # so begins what a client is told then
# For rows to be written, and on PostgreSQL for the runs of a killed process to be found: it has had
# no heartbeat for 30 seconds then.
PATIENCE_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class StoredRun:
    """How a run stands in the database."""

    outcome: str
    text: str


def stored_runs(installed: Installation) -> Mapping[str, StoredRun]:
    """All runs by the hexadecimal digits of their id."""
    rows = installed.query(
        "SELECT run.id, run.outcome, COALESCE(NULLIF(run.answer_text, ''), node.text, '') "
        "FROM copilot_admin_run run LEFT JOIN copilot_admin_node node "
        "ON node.id = run.output_node_id"
    )
    return {
        str(key).replace("-", ""): StoredRun(str(outcome), str(text)) for key, outcome, text in rows
    }


def outcomes(runs: Mapping[str, StoredRun]) -> dict[str, int]:
    """How many runs ended in which way."""
    ways = [run.outcome for run in runs.values()]
    return {way: ways.count(way) for way in sorted(set(ways))}


def unbalanced(installed: Installation) -> list[str]:
    """Where the law of conservation is broken: what was accepted has ended, and was counted once.

    To be asked when nothing is being answered.
    """
    runs = stored_runs(installed)
    running = sum(run.outcome == "running" for run in runs.values())
    ((counted,),) = installed.query("SELECT COALESCE(SUM(runs), 0) FROM copilot_admin_dailyusage")
    ((left,),) = installed.query("SELECT COUNT(*) FROM copilot_admin_checkpoint")
    problems = []
    if running:
        problems.append(f"{running} runs are still running")
    if counted != len(runs) - running:
        problems.append(f"{len(runs) - running} runs have ended, {counted} were counted")
    if left and not running:
        problems.append(f"{left} checkpoints of ended runs are left")
    return problems


def settled(installed: Installation) -> list[str]:
    """What is still unbalanced when the last rows have had the time to be written."""
    end = time.monotonic() + PATIENCE_SECONDS
    while (problems := unbalanced(installed)) and time.monotonic() < end:
        time.sleep(0.2)
    return problems
