"""`python -m benchmarks.users`: a thousand users with tokens ask two workers over PostgreSQL and Redis.

Nobody may see another's conversation, every limit has to hold within 2 %, figures, rollups, log lines,
rows and clients have to count the same; then one user is erased, and looked for everywhere. It fails
where any of that is not so. `--small`: 50 users and one process on SQLite. `--cost` measures the CPU of
a question instead: of nobody, with tokens, and with limits too. The Redis is that of TEST_REDIS_URL;
what is in its database is lost.
"""

from argparse import ArgumentParser
from collections.abc import Sequence
import os
import sys

from benchmarks.limits import REDIS_URL
from benchmarks.processes import away_from_the_server
from benchmarks.servers import POSTGRES, SMALL, Deployment
from benchmarks.table import table
from benchmarks.users.checks import report
from benchmarks.users.cost import costs
from benchmarks.users.trial import Trial, try_all


def main(arguments: Sequence[str]) -> int:
    """The program; its exit status says whether all is kept."""
    parser = ArgumentParser(prog="python -m benchmarks.users", description=__doc__)
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="one process on SQLite")
    parser.add_argument("--cost", action="store_true", help="measure CPU instead")
    parser.add_argument("--rounds", type=int, default=2, help="of --cost")
    options = parser.parse_args(arguments)
    trial = Trial(
        users=options.users,
        seconds=options.seconds,
        deployment=SMALL if options.small else Deployment(POSTGRES, 2),
        redis_url="" if options.small else REDIS_URL,
        seed=options.seed,
    )
    with away_from_the_server():
        if options.cost:
            found = costs(trial, rounds=options.rounds, say=lambda line: print(line, flush=True))
            print(table([("who asks", "CPU ms a question", "more"), *found]))
            return 0
        outcome = try_all(trial)
    print(report(outcome.checks))
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(
        f"{outcome.questions} questions of {trial.users} users in {outcome.seconds:.0f} s, "
        f"{outcome.cpu_ms:.1f} ms of CPU each; load of the machine {load}"
    )
    is_kept = all(one.is_kept for one in outcome.checks)
    print("PASS" if is_kept else "FAIL")
    return int(not is_kept)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
