"""A release is rolled out under fifty streams: none is cut, none refused."""

from contextlib import ExitStack
import os
from pathlib import Path
import subprocess

import psycopg
import pytest

from copilot_admin.settings import BASE_DIR
from tests import services
from tests.deploy.machine import (
    COPILOT,
    Askers,
    Server,
    free_ports,
    fresh_database,
    is_whole,
    manage,
    production,
    program,
    serving,
    slow_model,
)
from tests.services import nginx

pytestmark = [pytest.mark.nightly, pytest.mark.nginx, pytest.mark.postgres, pytest.mark.redis]
RELEASE_BEFORE = os.environ.get("TEST_RELEASE_BEFORE", "")  # a tag or a commit
CONF = (BASE_DIR / "deploy" / "nginx" / "copilot-admin.conf").read_text()


@pytest.fixture
def old_code(tmp_path: Path) -> Path:
    """The code of the release that TEST_RELEASE_BEFORE names, else this code."""
    if not RELEASE_BEFORE:
        return BASE_DIR
    folder = tmp_path / "old"
    folder.mkdir()
    archive = subprocess.run(
        ["git", "archive", RELEASE_BEFORE], cwd=BASE_DIR, capture_output=True, check=True
    )
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    return folder


def proxy(folder: Path, port: int, servers: list[int]) -> list[str]:
    """The command of an nginx with the file of compose before these servers, without its TLS."""
    text = "".join(line for line in CONF.splitlines(True) if "ssl_" not in line)
    text = text.replace(
        "listen 80;\n    return 308 https://$host$request_uri;", "listen 127.0.0.1:1;"
    )
    text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};")
    (line,) = (line for line in text.splitlines() if "web:7777" in line)
    upstream = "".join(line.replace("web:7777", f"127.0.0.1:{one}") for one in servers)
    text = text.replace(line, upstream)
    text = text.replace("server {\n    listen 127.0.0.1:1;\n}", "")
    folders = "".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    around = f"daemon off; pid {folder}/pid; events {{ worker_connections 1024; }}"
    file = folder / "nginx.conf"
    file.write_text(f"{around} http {{ access_log off; {folders} {text} }}")
    if os.geteuid() == 0:
        file.write_text("user root;" + file.read_text())
    return [nginx() or "nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(file)]


def test_no_stream_is_cut_and_none_refused(old_code, tmp_path):
    with ExitStack() as machine:
        database = machine.enter_context(fresh_database())
        model = machine.enter_context(slow_model())
        # Fifty strangers of one address are more than are let in unasked. Both releases share what
        # is cached and counted.
        environment = production(
            tmp_path,
            database,
            COPILOT_DRAIN_S="60",
            COPILOT_ANONYMOUS_CONCURRENT="0",
            COPILOT_ANONYMOUS_PER_MINUTE="0",
            REDIS_URL=services.REDIS_URL,
        )
        manage(environment, "migrate", "--no-input", code=old_code)
        (tmp_path / "news.yaml").write_text(COPILOT.format(url=model))
        told = ("copilots", "import", str(tmp_path / "news.yaml"), "--publish")
        manage(environment, *told, code=old_code)

        *ports, port = free_ports(3)
        running = [Server(environment, one, code=old_code, workers=2) for one in ports]
        machine.enter_context(serving(*running))
        command = proxy(tmp_path, port, ports)
        machine.enter_context(program(command, port=port, log=tmp_path / "nginx.log"))
        askers = Askers(f"http://127.0.0.1:{port}/v1/copilots/news/query", streams=50)
        try:
            askers.wait_for_more()
            manage(environment, "migrate", "--no-input")
            askers.wait_for_more()
            for old in running:
                old.stop()
                new = Server(environment, old.port, workers=2)
                machine.enter_context(serving(new))
                askers.wait_for_more()
        finally:
            askers.stop()

        wrong = [one for one in askers.answers if one[0] != 200 or not is_whole(one[1])]
        assert (len(wrong), wrong[:3]) == (0, [])
        with psycopg.connect(database) as rows:
            outcomes = rows.execute(
                "SELECT outcome, count(*) FROM copilot_admin_run GROUP BY outcome"
            ).fetchall()
        assert outcomes == [("completed", len(askers.answers))]
