"""PostgreSQL's own programs: found, started over the database of this process, ended, and heard."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import takewhile
import os
import shutil
import subprocess
import tempfile
from typing import IO, Any, TypeAlias

from django.db import connection

from copilot_admin.errors import ConfigurationError

Process: TypeAlias = "subprocess.Popen[bytes]"
PACKAGE = "install the package postgresql-client of the server's version"
# What libpq reads: a password must not stand in a list of processes.
VARIABLES = {
    "HOST": "PGHOST",
    "PORT": "PGPORT",
    "USER": "PGUSER",
    "PASSWORD": "PGPASSWORD",
    "NAME": "PGDATABASE",
}
OPTIONS = {
    "options": "PGOPTIONS",  # without time limits, whatever the role has
    "sslmode": "PGSSLMODE",
    "sslrootcert": "PGSSLROOTCERT",
    "sslcert": "PGSSLCERT",
    "sslkey": "PGSSLKEY",
}
WHAT_TO_DO = (
    "Nothing was changed. See that PostgreSQL answers and that its role may do this, then run the "
    "command again."
)
LONGEST_WORDS = 2000  # bytes of what a program says of its failure


def major_of(name: str) -> int:
    """The version of a program.

    Raises:
        ConfigurationError: It is not installed.
    """
    with running(name, "--version") as process:
        said = process.communicate()[0].decode(errors="replace")
    return version_in(said)


def version_in(said: str) -> int:
    """The first number of a version: "pg_dump (PostgreSQL) 15.20 (Debian ...)"; 0 without one."""
    for word in said.split():
        digits = "".join(takewhile(str.isdigit, word))
        if digits:
            return int(digits)
    return 0


@contextmanager
def running(
    name: str,
    *arguments: str,
    reads: IO[bytes] | int | None = None,
    writes: IO[bytes] | int = subprocess.PIPE,
    what_to_do: Callable[[], str] = lambda: WHAT_TO_DO,
) -> Iterator[Process]:
    """A program that ends within the block; its output is a pipe, unless it has another.

    Args:
        name: As it is found among programs.
        *arguments: What it is told.
        reads: Where its input comes from; None: it has none.
        writes: Where its output goes.
        what_to_do: Says what is so, and what to do, when it did not end well.

    Raises:
        ConfigurationError: It is not installed, or did not end well.
    """
    path = shutil.which(name)
    if path is None:
        raise ConfigurationError(f"{name} is missing: {PACKAGE}.")
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(  # noqa: S603  # names and options are ours
            [path, *arguments],
            env=_environment(),
            stdin=subprocess.DEVNULL if reads is None else reads,
            stdout=writes,
            stderr=said,
            process_group=0,  # Ctrl-C is for this process, which knows whether they may be ended
        )
        try:
            yield process
            status = process.wait()
        finally:
            _end(process)
        if status:
            said.seek(0)
            words = said.read(LONGEST_WORDS).decode(errors="replace").strip()
            raise ConfigurationError(f"{name} ended with {status}: {words}\n{what_to_do()}")


def _environment() -> Mapping[str, str]:
    found = connection.settings_dict
    given: dict[str, Any] = {VARIABLES[key]: found.get(key) for key in VARIABLES}
    options = found.get("OPTIONS", {})
    given |= {OPTIONS[key]: options[key] for key in OPTIONS if key in options}
    return {**os.environ, **{name: str(value) for name, value in given.items() if value}}


def _end(process: Process) -> None:
    if process.poll() is None:
        process.terminate()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()
