"""Servers to measure: the scripted upstream, two peers, and ours with a published copilot."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
import json
import os
from pathlib import Path
import sqlite3
import subprocess
import sys
import tempfile

import psycopg

from benchmarks.databases import new_database
from benchmarks.processes import LOAD_CORE, ROOT, SERVER_CORE, Process, free_port, running, start

SQLITE, POSTGRES = "sqlite", "postgres"
UVICORN = ("-m", "uvicorn", "--loop", "uvloop", "--http", "httptools", "--log-level", "warning")
# An empty variable counts as absent, so the caller's environment doesn't reach the server.
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
    """A server and the path of its query endpoint."""

    process: Process
    path: str


Say = Callable[[str], object]  # reports progress


@contextmanager
def upstream() -> Iterator[Target]:
    """Start the scripted model server."""
    port = free_port()
    with tempfile.TemporaryFile() as log:
        arguments = ("-m", "benchmarks.upstream", str(port))
        process = start(*arguments, port=port, core=LOAD_CORE, env={}, log=log)
        with running(process):
            yield Target(process, "/v1/chat/completions")


@contextmanager
def passthrough(model: Target) -> Iterator[Target]:
    """Start a bare ASGI application that forwards bytes."""
    with _peer("benchmarks.peers.passthrough:app", model) as process:
        yield Target(process, "/")


@contextmanager
def example_stack(model: Target) -> Iterator[Target]:
    """Start a copilot with the stack of OpenBB's example agents."""
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
    """Start this repository's server with a new SQLite database and full transcripts."""
    with installation(model) as installed, running(installed.start()) as process:
        yield Target(process, Installation.path)


SERVERS: dict[str, Callable[[Target], AbstractContextManager[Target]]] = {
    "pass-through": passthrough,
    "example stack": example_stack,
    "ours": ours,
}


@dataclass(frozen=True, slots=True)
class Deployment:
    """A kind of database and a number of workers; several need PostgreSQL."""

    database: str = SQLITE
    workers: int = 1


SMALL = Deployment()


@dataclass(frozen=True, slots=True)
class Installation:
    """A data directory with a published copilot."""

    folder: Path
    database_url: str = ""
    workers: int = 1

    path = "/v1/copilots/bench/query"

    def start(self) -> Process:
        """Start the server; may be repeated after it was killed."""
        port = free_port()
        workers = ("--workers", str(self.workers))
        arguments = ("manage.py", "serve", "--port", str(port), *workers)
        with (self.folder / "server.log").open("ab") as log:
            return start(*arguments, port=port, core=SERVER_CORE, env=self._env, log=log)

    def manage(self, *arguments: str) -> None:
        """Run a management command in the environment of the server."""
        subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env={**os.environ, **self._env},
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def query(self, sql: str) -> list[tuple[object, ...]]:
        """Read from the database without the server."""
        if self.database_url:
            with psycopg.connect(self.database_url) as server:
                return server.execute(sql.encode()).fetchall()
        with closing(sqlite3.connect(self.folder / "copilot.sqlite3", timeout=20)) as connection:
            return connection.execute(sql).fetchall()

    @property
    def _env(self) -> dict[str, str]:
        return {
            **ENVIRONMENT,
            "COPILOT_DATA_DIR": str(self.folder),
            "DATABASE_URL": self.database_url,
        }


@contextmanager
def installation(model: Target, deployment: Deployment = SMALL) -> Iterator[Installation]:
    """Make a data directory with a published copilot on a new database."""
    database = new_database() if deployment.database == POSTGRES else nullcontext("")
    with (
        database as url,
        tempfile.TemporaryDirectory(prefix="copilot-admin-bench-") as folder,
    ):
        installed = Installation(Path(folder), url, deployment.workers)
        path = installed.folder / "copilots.json"
        path.write_text(json.dumps(_copilot_file(base_url(model))))
        installed.manage("migrate", "--verbosity", "0")
        installed.manage("copilots", "import", str(path), "--publish")
        yield installed


def _copilot_file(model_url: str) -> dict[str, object]:
    """Return a copilot file with one open copilot that logs everything."""
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
