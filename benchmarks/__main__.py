"""`make bench`: measures our server beside others; fails where a floor is not kept."""

from argparse import ArgumentParser
from dataclasses import replace
import sys

from benchmarks.floors import figures, floors
from benchmarks.processes import LOAD_CORE, SERVER_CORE, away_from_the_server
from benchmarks.streaming import QUICK, Plan, measure


def main(arguments: list[str]) -> int:
    """Runs the comparison; returns the status of the process."""
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="see that it works; figures are rough")
    parser.add_argument("--runs", type=int, help="how often; the median counts")
    parser.add_argument("--every-ms", type=float, help="between two chunks of an answer")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else Plan()
    if options.runs:
        plan = replace(plan, runs=options.runs)
    if options.every_ms:
        plan = replace(plan, script=replace(plan.script, every_ms=options.every_ms))
    if SERVER_CORE == LOAD_CORE:
        print("This machine has one core: the client takes part of the servers' time.")
    with away_from_the_server():
        results = measure(plan, say=lambda line: print(line, flush=True))
    print(f"\n{figures(results)}\n")
    kept = floors(results)
    print(*kept, sep="\n")
    return 0 if options.quick or all(floor.kept for floor in kept) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
