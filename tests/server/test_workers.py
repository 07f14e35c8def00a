"""Server processes under streams: drain, replacement of workers, `kill -9`."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
import os
from pathlib import Path
import signal
import sqlite3
import threading

import psycopg
import pytest

from benchmarks.processes import free_port
from tests import services
from tests.databases import copy_for_server
from tests.deploy.machine import (
    COPILOT,
    QUESTION,
    Askers,
    Server,
    asked,
    fresh_database,
    is_whole,
    manage,
    production,
    serving,
    slow_model,
)
from tests.polling import HANGS_SECONDS, eventually

NO_LIMITS = {"COPILOT_ANONYMOUS_CONCURRENT": "0", "COPILOT_ANONYMOUS_PER_MINUTE": "0"}


@pytest.mark.django_db
def test_a_server_that_drains_finishes_its_streams_and_takes_no_new_ones(tmp_path: Path):
    copy_for_server(tmp_path / "data")
    environment = production(
        tmp_path, "", DJANGO_SETTINGS_MODULE="copilot_admin.settings", COPILOT_DRAIN_S="60"
    )
    with slow_model() as model:
        import_copilot(environment, tmp_path, model)
        server = Server(environment, free_port())
        with serving(server):
            second = Server(environment, free_port())
            assert second.process.wait(HANGS_SECONDS) == 1
            assert "Another server uses the SQLite database" in second.said()

            base = f"http://127.0.0.1:{server.port}"
            answers: list[tuple[int, bytes]] = []
            query = f"{base}/v1/copilots/news/query"
            stream = threading.Thread(target=lambda: answers.append(asked(query, QUESTION)))
            stream.start()
            file = tmp_path / "data" / "copilot.sqlite3"
            assert eventually(lambda: outcomes_on_sqlite(file) == {"running"})
            server.process.send_signal(signal.SIGTERM)
            assert eventually(lambda: asked(f"{base}/readyz")[0] == 503)
            assert b"draining" in asked(f"{base}/readyz")[1]
            assert asked(f"{base}/healthz")[0] == 200
            assert asked(query, QUESTION)[0] == 503
            stream.join(HANGS_SECONDS)
    ((status, body),) = answers
    assert (status, is_whole(body)) == (200, True)


def outcomes_on_sqlite(file: Path) -> set[str]:
    with sqlite3.connect(file) as rows:
        return {outcome for (outcome,) in rows.execute("SELECT outcome FROM copilot_admin_run")}


def import_copilot(environment: dict[str, str], folder: Path, model: str) -> None:
    file = folder / "news.yaml"
    file.write_text(COPILOT.format(url=model))
    manage(environment, "copilots", "import", str(file), "--publish")


@contextmanager
def two_workers(folder: Path) -> Iterator[tuple[Server, str]]:
    """A server with two workers over PostgreSQL, and the URL of its database."""
    with fresh_database() as database, slow_model() as model:
        environment = production(
            folder, database, COPILOT_DRAIN_S="60", REDIS_URL=services.REDIS_URL, **NO_LIMITS
        )
        manage(environment, "migrate", "--no-input")
        import_copilot(environment, folder, model)
        server = Server(environment, free_port(), workers=2)
        with serving(server):
            yield server, database


def pids_of_workers(server: Server) -> list[int]:
    """The supervisor's children, without the resource tracker of `multiprocessing`."""
    supervisor = server.process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    return [
        int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]


@pytest.mark.nightly
@pytest.mark.postgres
@pytest.mark.redis
class TestWorkers:
    def test_no_stream_is_cut_or_refused_while_workers_are_replaced(self, tmp_path):
        with two_workers(tmp_path) as (server, _):
            askers = Askers(f"http://127.0.0.1:{server.port}/v1/copilots/news/query", streams=10)
            try:
                askers.wait_for_more()
                old = set(pids_of_workers(server))
                server.process.send_signal(signal.SIGHUP)
                for left in (1, 0):
                    assert eventually(lambda: len(old & set(pids_of_workers(server))) == left)  # noqa: B023
                askers.wait_for_more()
            finally:
                askers.stop()
        wrong = [one for one in askers.answers if one[0] != 200 or not is_whole(one[1])]
        assert wrong == []

    def test_killed_workers_are_replaced_and_their_runs_end_as_interrupted(self, tmp_path):
        with two_workers(tmp_path) as (server, database):
            query = f"http://127.0.0.1:{server.port}/v1/copilots/news/query"

            def ask_until_cut() -> None:
                with suppress(OSError, HTTPException):
                    asked(query, QUESTION)

            stream = threading.Thread(target=ask_until_cut)
            stream.start()

            def outcomes() -> set[str]:
                with psycopg.connect(database) as rows:
                    found = rows.execute("SELECT outcome FROM copilot_admin_run").fetchall()
                return {outcome for (outcome,) in found}

            assert eventually(lambda: outcomes() == {"running"})
            killed = pids_of_workers(server)
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            stream.join(HANGS_SECONDS)
            server.wait_until_ready()
            assert len(killed) == 2
            assert eventually(lambda: len(pids_of_workers(server)) == 2)
            assert set(killed).isdisjoint(pids_of_workers(server))
            assert eventually(lambda: outcomes() == {"interrupted"})
            assert is_whole(asked(query, QUESTION)[1])
