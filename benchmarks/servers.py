"""The servers that are measured: the scripted upstream, two peers, and ours with a copilot."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
import json
import os
from pathlib import Path
import sqlite3
import subprocess
import sys
import tempfile
from types import MappingProxyType

import psycopg

from benchmarks.databases import new_database
from benchmarks.processes import LOAD_CORE, ROOT, SERVER_CORE, Process, free_port, running, start

SQLITE, POSTGRES = "sqlite", "postgres"
UVICORN = ("-m", "uvicorn", "--loop", "uvloop", "--http", "httptools", "--log-level", "warning")
# An empty variable counts as absent: nothing of the caller's environment reaches the server.
ENVIRONMENT = {
    "DJANGO_SETTINGS_MODULE": "copilot_admin.settings",
    "COPILOT_ENV": "development",
    "SECRET_KEY": "benchmarks keep no secrets, and this one is fifty characters long",
    "COPILOT_ENCRYPTION_KEYS": "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
    "COPILOT_ANONYMOUS_CONCURRENT": "0",  # all questions of a benchmark come from one address
    "COPILOT_ANONYMOUS_PER_MINUTE": "0",
    **dict.fromkeys(
        ("DATABASE_URL", "REDIS_URL", "PUBLIC_URL", "ALLOWED_HOSTS", "COPILOT_DEBUG", "HOST"), ""
    ),
}


@dataclass(frozen=True, slots=True)
class Target:
    """Where a client sends its questions."""

    process: Process
    path: str


Say = Callable[[str], object]  # where a measurement tells how far it is


@contextmanager
def upstream() -> Iterator[Target]:
    """The scripted model server."""
    port = free_port()
    with tempfile.TemporaryFile() as log:
        arguments = ("-m", "benchmarks.upstream", str(port))
        process = start(*arguments, port=port, core=LOAD_CORE, env={}, log=log)
        with running(process):
            yield Target(process, "/v1/chat/completions")


@contextmanager
def passthrough(model: Target) -> Iterator[Target]:
    """A bare ASGI application that forwards bytes."""
    with _peer("benchmarks.peers.passthrough:app", model) as process:
        yield Target(process, "/")


@contextmanager
def example_stack(model: Target) -> Iterator[Target]:
    """OpenBB's example agents."""
    with _peer("benchmarks.peers.example_stack:app", model) as process:
        yield Target(process, "/v1/query")


@contextmanager
def _peer(application: str, model: Target) -> Iterator[Process]:
    port = free_port()
    with tempfile.TemporaryFile() as log:
        arguments = (*UVICORN, "--port", str(port), application)
        env = {"UPSTREAM": base_url(model)}
        with running(start(*arguments, port=port, core=SERVER_CORE, env=env, log=log)) as process:
            yield process


@contextmanager
def ours(model: Target) -> Iterator[Target]:
    """This repository's server over a new SQLite database, keeping full transcripts."""
    with installation(model) as installed, running(installed.start()) as process:
        yield Target(process, Installation.path)


MAKERS: dict[str, Callable[[Target], AbstractContextManager[Target]]] = {
    "pass-through": passthrough,
    "example stack": example_stack,
    "ours": ours,
}


@dataclass(frozen=True, slots=True)
class Deployment:
    """How the server runs.

    Attributes:
        database: Which kind of database it is over.
        workers: Processes that serve; several need PostgreSQL.
    """

    database: str = SQLITE
    workers: int = 1

    def __str__(self) -> str:
        return f"{self.database}, {self.workers} worker{'s' if self.workers > 1 else ''}"


SMALL = Deployment()


@dataclass(frozen=True, slots=True)
class Installation:
    """A data directory in which copilots are published."""

    folder: Path
    database_url: str = ""
    workers: int = 1
    variables: Mapping[str, str] = field(default_factory=dict)

    path = "/v1/copilots/bench/query"

    def start(self, program: Sequence[str] = ("manage.py",)) -> Process:
        """Starts the server; may be done again after it was killed.

        Args:
            program: What takes the commands of `manage.py`.
        """
        port = free_port()
        workers = ("--workers", str(self.workers))
        arguments = (*program, "serve", "--port", str(port), *workers)
        with (self.folder / "server.log").open("ab") as log:
            return start(*arguments, port=port, core=SERVER_CORE, env=self._env, log=log)

    def log(self) -> str:
        """What the server has written to standard output and error."""
        return (self.folder / "server.log").read_text(errors="replace")

    def manage(self, *arguments: str) -> str:
        """Runs a management command; returns what it prints."""
        return self.run("manage.py", *arguments)

    def run(self, *arguments: str) -> str:
        """Runs Python with some arguments in the environment of the server."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={**os.environ, **self._env},
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        return done.stdout

    def query(self, sql: str) -> list[tuple[object, ...]]:
        """Reads from the database behind the server's back."""
        if self.database_url:
            with psycopg.connect(self.database_url) as server:
                return server.execute(sql.encode()).fetchall()
        connection = sqlite3.connect(self.folder / "copilot.sqlite3", timeout=20)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    @property
    def _env(self) -> dict[str, str]:
        return {
            **ENVIRONMENT,
            "COPILOT_DATA_DIR": str(self.folder),
            "DATABASE_URL": self.database_url,
            **self.variables,
        }


@contextmanager
def installation(
    model: Target,
    deployment: Deployment = SMALL,
    *,
    file: Mapping[str, object] | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Installation]:
    """Makes a data directory with published copilots, over a new database.

    Args:
        model: Whom the copilot asks.
        deployment: How the server runs.
        file: A copilot file in the place of the one with one copilot.
        variables: Of the server's environment, besides the usual ones.
    """
    with (
        _database(deployment) as url,
        installation_over(
            url, model, workers=deployment.workers, file=file, variables=variables
        ) as installed,
    ):
        yield installed


def _database(deployment: Deployment) -> AbstractContextManager[str]:
    return new_database() if deployment.database == POSTGRES else nullcontext("")


@contextmanager
def installation_over(
    database_url: str,
    model: Target,
    *,
    workers: int = 1,
    file: Mapping[str, object] | None = None,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Installation]:
    """Like `installation`, over an empty database; without an address on SQLite."""
    with tempfile.TemporaryDirectory(prefix="copilot-admin-bench-") as folder:
        installed = Installation(Path(folder), database_url, workers, variables)
        path = installed.folder / "copilots.json"
        path.write_text(json.dumps(file or copilot_file(base_url(model))))
        installed.manage("migrate", "--verbosity", "0")
        installed.manage("copilots", "import", str(path), "--publish")
        yield installed


def rehearsed_file(slug: str) -> dict[str, object]:
    """One open copilot that no model answers for."""
    copilot = {
        "slug": slug,
        "name": "Bench",
        "system_prompt": "You are a helpful financial assistant.",
        "provider": "Rehearsal",
        "model": "rehearsal",
        "access": "open",
    }
    providers = [{"name": "Rehearsal", "kind": "rehearsal"}]
    return {"format": 1, "providers": providers, "copilots": [copilot]}


def copilot_file(model_url: str) -> dict[str, object]:
    """One open copilot that logs everything."""
    return {
        "format": 1,
        "providers": [{"name": "Upstream", "kind": "openai_compatible", "base_url": model_url}],
        "copilots": [
            {
                "slug": "bench",
                "name": "Bench",
                "system_prompt": "You are a helpful financial assistant.",
                "provider": "Upstream",
                "model": "scripted",
                "access": "open",
                "logging": "everything",
            }
        ],
    }


def base_url(model: Target) -> str:
    return f"http://127.0.0.1:{model.process.port}/v1"
