"""`make bench`: measure the server next to others; exit with 1 if a limit of speed is exceeded."""

from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
import sys

from benchmarks import pages, short, streaming
from benchmarks.limits import (
    Limit,
    chunk_limits,
    page_limits,
    question_limits,
    question_table,
    streaming_table,
)
from benchmarks.processes import LOAD_CORE, SERVER_CORE, on_load_core
from benchmarks.streaming import QUICK, Plan


def main(arguments: Sequence[str]) -> int:
    """Run the measurements and return the status of the process."""
    parser = ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a smoke test: figures are rough")
    parser.add_argument("--only", choices=["streaming", "short", "pages"])
    parser.add_argument("--runs", type=int, help="repetitions; the median counts")
    parser.add_argument("--messages", type=int, default=20_000, help="in the transcripts of pages")
    parser.add_argument("--keep", metavar="FOLDER", help="data directory of pages; filled once")
    options = parser.parse_args(arguments)
    plan = QUICK if options.quick else Plan()
    if options.runs:
        plan = replace(plan, runs=options.runs)
    if SERVER_CORE == LOAD_CORE:
        print("This machine has one core: the client takes part of the server's time.")
    limits: list[Limit] = []
    if options.only in (None, "streaming"):
        with on_load_core():
            results = streaming.measure(plan, say=_say)
        _say(f"\n{streaming_table(results)}\n")
        limits += chunk_limits(results)
    if options.only in (None, "short"):
        with on_load_core():
            question_ms = short.measure(plan.chats, runs=plan.runs, say=_say)
        _say(f"\n{question_table(question_ms)}\n")
        limits += question_limits(question_ms)
    if options.only in (None, "pages"):
        messages = 800 if options.quick else options.messages
        page_ms, turn_bytes = pages.measure(messages, keep=options.keep, say=_say)
        limits += page_limits(page_ms, turn_bytes)
    print(*limits, sep="\n")
    return 0 if options.quick or all(limit.is_met for limit in limits) else 1


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
