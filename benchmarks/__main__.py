"""`make bench`: measures our server beside others; fails where a floor is not kept."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
import sys

from benchmarks import short, streaming
from benchmarks.floors import Floor, figures, floors, short_figures, short_floor
from benchmarks.processes import LOAD_CORE, SERVER_CORE, away_from_the_server
from benchmarks.streaming import QUICK, Plan


def main(arguments: list[str]) -> int:
    """Runs the comparison; returns the status of the process."""
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="see that it works; figures are rough")
    parser.add_argument("--only", choices=["short"], help="measure what short questions cost")
    parser.add_argument("--runs", type=int, help="how often; the median counts")
    parser.add_argument("--every-ms", type=float, help="between two chunks of an answer")
    options = parser.parse_args(arguments)
    if SERVER_CORE == LOAD_CORE:
        print("This machine has one core: the client takes part of the servers' time.")
    with away_from_the_server():
        told, kept = _measured(_plan(options), only_short=options.only == "short")
    print(f"\n{told}\n")
    print(*kept, sep="\n")
    return 0 if options.quick or all(floor.kept for floor in kept) else 1


def _plan(options: Namespace) -> Plan:
    plan = QUICK if options.quick else Plan()
    if options.runs:
        plan = replace(plan, runs=options.runs)
    if options.every_ms:
        plan = replace(plan, script=replace(plan.script, every_ms=options.every_ms))
    return plan


def _measured(plan: Plan, *, only_short: bool) -> tuple[str, Sequence[Floor]]:
    """The tables of what was measured, and the floors."""
    if only_short:
        question_ms = short.measure(plan.chats, runs=plan.runs, say=_say)
        return short_figures(question_ms), [short_floor(question_ms)]
    results = streaming.measure(plan, say=_say)
    question_ms = short.measure(plan.chats, runs=plan.runs, say=_say)
    told = f"{figures(results)}\n\n{short_figures(question_ms)}"
    return told, floors(results, question_ms)


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
