"""What watching costs: our server with figures and traces beside one without, in turns.

Both serve at the same time and take their turns with the same crowd, so what else the machine does
falls on both alike. Counted is the CPU of the whole server process, the thread that sends traces and
the reading of gauges included.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median
import sys
import threading

import uvloop

from benchmarks import servers
from benchmarks.processes import away_from_the_server, running
from benchmarks.script import Script
from benchmarks.servers import Installation, Target, installation
from benchmarks.stats import stats
from benchmarks.streaming import ANSWER, crowd

MOST_ADDED = 0.03
STREAMS = 40
WATCHED = {
    "COPILOT_METRICS_TOKEN": "benchmarks keep no secrets",
    "COPILOT_LOG_FORMAT": "json",
}


class _Sink(BaseHTTPRequestHandler):
    """Takes every trace, and looks at none."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@contextmanager
def sink() -> Iterator[str]:
    """The address of a collector."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@contextmanager
def server(model: Target, variables: Mapping[str, str]) -> Iterator[Target]:
    """Our server with these variables."""
    with (
        installation(model, variables=variables) as installed,
        running(installed.start()) as process,
    ):
        yield Target(process, Installation.path)


async def cpu_us(target: Target, model: Target, *, script: Script, streams: int) -> float:
    """Microseconds of the server's CPU for each chunk."""
    chunks, spent = (await stats(model)).chunks, target.process.cpu_seconds()
    await crowd(target, streams=streams, script=script)
    spent = target.process.cpu_seconds() - spent
    return spent / ((await stats(model)).chunks - chunks) * 1e6


def compare(
    *, rounds: int, share: float, script: Script = ANSWER, streams: int = STREAMS
) -> list[float]:
    """How many times as much CPU a chunk costs that is watched, round by round."""
    ratios: list[float] = []
    with ExitStack() as stack:
        model = stack.enter_context(servers.upstream())
        collector = stack.enter_context(sink())
        variables = dict(WATCHED)
        if share:
            variables["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector
            variables["COPILOT_TRACE_SHARE"] = str(share)
        plain = stack.enter_context(server(model, {}))
        watched = stack.enter_context(server(model, variables))
        for target in (plain, watched):
            uvloop.run(crowd(target, streams=streams, script=replace(script, chunks=10)))
        for number in range(rounds):
            turns = (plain, watched) if number % 2 else (watched, plain)
            cost = {
                target: uvloop.run(cpu_us(target, model, script=script, streams=streams))
                for target in turns
            }
            ratios.append(cost[watched] / cost[plain])
            print(f"round {number + 1}: {cost[plain]:.1f} us, watched {cost[watched]:.1f} us")
    return ratios


def main(arguments: Sequence[str]) -> int:
    """Prints the comparison; returns the status of the process."""
    parser = ArgumentParser(prog="python -m benchmarks.watching", description=__doc__)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--share", type=float, default=1, help="of the runs that are traced")
    options = parser.parse_args(arguments)
    away_from_the_server()
    added = median(compare(rounds=options.rounds, share=options.share)) - 1
    kept = added <= MOST_ADDED
    words = "kept" if kept else "not kept"
    print(f"watching adds {added:.1%} to the CPU of a chunk, at most {MOST_ADDED:.0%}: {words}")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
