"""Processes of the server start, serve and end, or say why they could not."""

import os
from pathlib import Path
import signal
import socket
import stat
import subprocess
import sys
from urllib.request import urlopen

from django.db import connection
import pytest

from tests.databases import copy_for_server
from tests.polling import HANGS_SECONDS

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def tables(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Create what `migrate` creates, for tests that do not run it."""
    if request.param == "there" and connection.vendor == "sqlite":
        copy_for_server(tmp_path / "data")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "tables", ["there", pytest.param("made", marks=pytest.mark.nightly)], indirect=True
)
def test_quickstart_prepares_serves_and_ends(tmp_path, tables):
    """The whole way, as `make run` goes it, in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        "PATH": os.environ["PATH"],
        "COPILOT_DATA_DIR": str(tmp_path / "data"),
        "SECRET_KEY": "only for this test",
        "COPILOT_ENCRYPTION_KEYS": os.environ["COPILOT_ENCRYPTION_KEYS"],
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, "manage.py", "quickstart", "--port", str(port)]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        for line in server.stderr:
            if "startup complete" in line:
                break
        with urlopen(f"http://127.0.0.1:{port}/agents.json?key=canary-in-query") as answer:
            assert b"market-brief" in answer.read()
        server.send_signal(signal.SIGTERM)
        out, log = server.communicate(timeout=HANGS_SECONDS)

    data = [file for file in (tmp_path / "data").rglob("*") if file.is_file()]
    assert {stat.S_IMODE(file.stat().st_mode) for file in data} == {0o600}
    printed = dict(line.split(": ", 1) for line in out.splitlines() if ": " in line)
    assert printed["Password"].strip() in (tmp_path / "data" / "first-login.txt").read_text()
    assert printed["Admin"].strip() == f"http://127.0.0.1:{port}/admin/"
    assert "GET /agents.json HTTP/1.1" in log
    assert "canary" not in log


WORKERS = """
import django, sys
django.setup()
from copilot_admin.server import serve
from copilot_admin.errors import ConfigurationError
serve.APPLICATION = sys.argv[1]
try:
    serve.serve(serve.listen("127.0.0.1", 0), workers=int(sys.argv[2]))
except ConfigurationError as error:
    sys.exit(error.public)
"""
REFUSES, BREAKS, IS_NOT_THERE = (
    f"tests.management.failing_start:{name}" for name in ("refuses", "breaks", "nothing")
)


@pytest.mark.parametrize(
    ("application", "workers"),
    [
        (REFUSES, "2"),
        pytest.param(BREAKS, "1", marks=pytest.mark.nightly),
        pytest.param(REFUSES, "1", marks=pytest.mark.nightly),
        pytest.param(IS_NOT_THERE, "2", marks=pytest.mark.nightly),
        pytest.param(BREAKS, "2", marks=pytest.mark.nightly),
        pytest.param(IS_NOT_THERE, "1", marks=pytest.mark.nightly),
    ],
)
def test_a_start_that_fails_ends_the_server_with_an_error(tmp_path, application, workers):
    done = subprocess.run(
        [sys.executable, "-c", WORKERS, application, workers],
        cwd=ROOT,
        env={
            "DJANGO_SETTINGS_MODULE": "copilot_admin.settings",
            "COPILOT_DATA_DIR": str(tmp_path),
            "SECRET_KEY": "only for this test",
            "COPILOT_ENCRYPTION_KEYS": os.environ["COPILOT_ENCRYPTION_KEYS"],
        },
        capture_output=True,
        text=True,
        timeout=HANGS_SECONDS,
        check=False,
    )
    assert done.returncode > 0
    if application.endswith("refuses"):
        assert "The database is broken." in done.stderr
        assert "Traceback" not in done.stderr
