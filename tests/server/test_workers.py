"""Workers are replaced one by one while questions come: none is refused."""

from collections.abc import Iterator
from contextlib import contextmanager
import http.client
import json
import os
from pathlib import Path
import signal
import socket
import subprocess
import sys
import threading
from urllib.parse import urlsplit

from django.db import connection
import pytest

from copilot_admin.settings import BASE_DIR
from tests import services
from tests.factories import make_published
from tests.polling import HANGS_SECONDS, eventually

# Five processes that start: what each does of it has a cheap test in `test_workers.py`.
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.postgres,
    pytest.mark.database,
    pytest.mark.django_db(transaction=True),
]

HELLO = json.dumps({"messages": [{"role": "human", "content": "Hello"}]})
FINISHED = "Finished server process"
BETWEEN_QUESTIONS_SECONDS = 0.05  # three who ask without a pause leave the workers no time to start


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """What a server over the database of this test is called with."""
    if connection.vendor != "postgresql":
        pytest.skip("SQLite serves one process; this test runs with those on PostgreSQL")
    server = urlsplit(services.DATABASE_URL)
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.server.patient_settings",
        "DATABASE_URL": server._replace(path=f"/{connection.settings_dict['NAME']}").geturl(),
        "COPILOT_DATA_DIR": str(tmp_path / "data"),
    }


@contextmanager
def running(*arguments: str, environment: dict[str, str], log: Path) -> Iterator[subprocess.Popen]:
    """A command of the product that runs until it is stopped."""
    command = [sys.executable, "manage.py", *arguments]
    with log.open("w") as file:
        process = subprocess.Popen(command, env=environment, cwd=BASE_DIR, stderr=file)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            assert process.wait(2 * HANGS_SECONDS) == 0


def status(port: int, method: str, path: str, *, body: str | None = None) -> int | str:
    """The status of an answer that was read to its end, or what was said instead."""
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=HANGS_SECONDS)
    try:
        line.request(method, path, body=body, headers={"Content-Type": "application/json"})
        response = line.getresponse()
        words = response.read().decode()
        return response.status if response.status == 200 else words
    except (OSError, http.client.HTTPException) as error:
        return repr(error)
    finally:
        line.close()


def test_no_question_is_refused_while_the_workers_are_replaced(environment, tmp_path):
    make_published(slug="news")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    log, answers, enough = tmp_path / "log", [], threading.Event()

    def ask_on() -> None:
        while not enough.wait(BETWEEN_QUESTIONS_SECONDS):
            answers.append(status(port, "POST", "/v1/copilots/news/query", body=HELLO))

    arguments = ("serve", "--port", str(port), "--workers", "2")
    with running(*arguments, environment=environment, log=log) as server:
        assert eventually(lambda: log.read_text().count("Application startup complete") == 2)
        askers = [threading.Thread(target=ask_on) for _ in range(3)]
        for asker in askers:
            asker.start()
        try:
            assert eventually(lambda: answers)
            server.send_signal(signal.SIGHUP)
            for number in (1, 2):
                assert eventually(lambda: log.read_text().count(FINISHED) == number)  # noqa: B023
            so_far = len(answers)
            assert eventually(lambda: len(answers) > so_far + len(askers))
        finally:
            enough.set()
            for asker in askers:
                asker.join(HANGS_SECONDS)
    assert set(answers) == {200}
