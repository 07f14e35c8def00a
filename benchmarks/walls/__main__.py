"""Sends every class of attacks at a running server while a bystander is being answered.

The bystander streams an answer and polls `/healthz`: its p99 stays below 500 ms and its answers end
well; each process of the server stays below 400 MB; no run is left without an end, and no clean end
without a kept run. The cases are drawn: the seed is printed, and can be given.
"""

import asyncio
from dataclasses import replace
from random import SystemRandom
import sys

from benchmarks.options import deployment_in, fault_options
from benchmarks.processes import away_from_the_server
from benchmarks.servers import Deployment
from benchmarks.table import table
from benchmarks.walls import siege
from benchmarks.walls.cases import WALLS, Wall
from benchmarks.walls.report import HEAD, Bounds, Row, broken, cells
from benchmarks.walls.siege import Plan, besieged

CASES = 40
QUICK_CASES = 2


def main(arguments: list[str]) -> int:
    """Sends, prints the table; returns the status of the process."""
    names = [wall.name for wall in WALLS]
    parser = fault_options("walls", __doc__, seed=None)
    parser.add_argument("--cases", type=int, default=CASES, help="of each class")
    parser.add_argument("--only", choices=names, action="append", help="a class; may be repeated")
    parser.add_argument("--quick", action="store_true", help="see that it works: two cases each")
    parser.add_argument("--most-ms", type=float, help="another bound, to see it fall")
    parser.add_argument("--most-mb", type=float, help="another bound, to see it fall")
    options = parser.parse_args(arguments)
    seed = SystemRandom().getrandbits(32) if options.seed is None else options.seed
    plan = Plan(seed=seed, cases=options.cases)
    if options.quick:
        plan = replace(plan, cases=QUICK_CASES, alone=0.5)
    bounds = Bounds()
    if options.most_ms is not None:
        bounds = replace(bounds, seconds=options.most_ms / 1000)
    if options.most_mb is not None:
        bounds = replace(bounds, bytes=int(options.most_mb * 2**20))
    walls = [wall for wall in WALLS if wall.name in (options.only or names)]
    deployment = deployment_in(options)
    print(f"seed {seed}, {plan.cases} cases of each class, {deployment}", flush=True)
    with away_from_the_server():
        rows = send(walls, plan, deployment)
    return tell(rows, bounds, skipped=[wall for wall in walls if not wall.fits(deployment)])


def send(walls: list[Wall], plan: Plan, deployment: Deployment) -> list[Row]:
    """Sends the classes that fit, one after the other at the same server."""
    rows = []
    with besieged(deployment) as server:
        for wall in walls:
            if wall.fits(deployment):
                rows.append(asyncio.run(siege.send(wall, server, plan)))
                print(f"{wall.name}: {rows[-1].sent} sent", flush=True)
    return rows


def tell(rows: list[Row], bounds: Bounds, *, skipped: list[Wall]) -> int:
    """Prints the table and what was not kept; returns the status of the process."""
    print(f"\n{table([HEAD, *(cells(row, bounds) for row in rows)])}\n")
    for wall in skipped:
        print(f"{wall.name}: not sent, needs {wall.needs}")
    faults = [f"{row.name}: {fault}" for row in rows for fault in broken(row, bounds)]
    print(*(f"FAIL  {fault}" for fault in faults), sep="\n")
    print("FAIL" if faults else "PASS  nobody noticed, and all of it is kept")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
