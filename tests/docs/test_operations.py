"""Commands and metrics of docs/operations.md, and the shipped nginx file."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
import re
import socket
import subprocess

import pytest

from copilot_admin.settings import BASE_DIR
from copilot_admin.telemetry.metrics import GAUGES, ServerMetrics
from tests.agent.scripted import ScriptedProvider, stalled
from tests.factories import make_published
from tests.polling import HANGS_SECONDS, eventually
from tests.services import nginx
from tests.wire import Line

OPERATIONS = (BASE_DIR / "docs" / "operations.md").read_text()
NGINX_FILE = (BASE_DIR / "deploy" / "nginx" / "copilot-admin.conf").read_text()
UPSTREAM = "web:7777"
# The shipped file without TLS and the redirection to it.
WITHOUT_TLS = re.sub(r"server \{\n    listen 80;.*?\n\}\n", "", NGINX_FILE, flags=re.DOTALL)
WITHOUT_TLS = re.sub(r"    ssl_.*\n", "", WITHOUT_TLS).replace("listen 443 ssl;", "listen 80;")
# What a distribution's own file sets around it; here all of it lies in one folder.
AROUND = """
daemon off; master_process off; pid {folder}/pid; error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {snippet}
}}
"""
HELLO = {"messages": [{"role": "human", "content": "Hello"}]}


def configured(folder: Path, *, snippet: str) -> list[str]:
    """Return the command of an nginx with these servers."""
    file = folder / "nginx.conf"
    file.write_text(AROUND.format(folder=folder, snippet=snippet))
    return [nginx() or "nginx", "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(file)]


@contextmanager
def proxy(
    folder: Path, *, upstream: str, added: str = "", changed: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Run nginx with the shipped file, with additions and changes; yields its URL."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    snippet = WITHOUT_TLS.replace("listen 80;", f"listen 127.0.0.1:{port};")
    snippet = snippet.replace(UPSTREAM, upstream.removeprefix("http://"))
    snippet = snippet.replace("location / {", f"{added} location / {{")
    for before, after in (changed or {}).items():
        assert before in snippet
        snippet = snippet.replace(before, after)
    process = subprocess.Popen(configured(folder, snippet=snippet))
    try:
        assert eventually(lambda: answers(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "error.log").read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(HANGS_SECONDS)


def answers(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.nginx
def test_nginx_accepts_the_shipped_file(tmp_path):
    snippet = WITHOUT_TLS.replace(UPSTREAM, "127.0.0.1:7777")
    command = [*configured(tmp_path, snippet=snippet), "-t"]
    tested = subprocess.run(command, capture_output=True, text=True)
    assert (tested.returncode, "test is successful" in tested.stderr) == (0, True), tested.stderr


@pytest.mark.nginx
@pytest.mark.django_db(transaction=True)
def test_an_answer_streams_through_nginx(tmp_path, service_url, monkeypatch):
    provider = ScriptedProvider([stalled("Hello")])
    monkeypatch.setattr("copilot_admin.copilots.live.make_provider", lambda spec: provider)
    make_published(slug="news")
    with (
        proxy(tmp_path, upstream=service_url) as url,
        Line(f"{url}/v1/copilots/news/query", body=HELLO) as line,
    ):
        assert line.read_until(b"Hello"), "the first frame waits for the end, which never comes"
        assert (line.status, line.headers["cache-control"]) == (200, "no-store, no-transform")


def test_every_metric_is_documented_and_every_documented_one_exists():
    metrics = {metric.name for metric in ServerMetrics()._registry.collect()}
    named = set(re.findall(r"`(copilot_[a-z0-9_]+?)(?:_total)?`", OPERATIONS))
    read = {f"copilot_{name}" for name in GAUGES}
    assert named == (metrics | read) | {"copilot_admin"} & named
