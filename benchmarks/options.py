"""What the command lines of the fault programs have in common."""

from argparse import ArgumentParser, Namespace

from benchmarks.servers import POSTGRES, SQLITE, Deployment


def fault_options(program: str, about: str | None, *, seed: int | None = 1) -> ArgumentParser:
    """A command line with the seed, the database and the number of workers."""
    parser = ArgumentParser(prog=f"python -m benchmarks.{program}", description=about)
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--database", choices=(SQLITE, POSTGRES), default=SQLITE)
    parser.add_argument("--workers", type=int, default=1, help="more than 1 needs PostgreSQL")
    return parser


def deployment_in(options: Namespace) -> Deployment:
    """The deployment that a command line names."""
    return Deployment(options.database, options.workers)
