"""What a machine of an operator runs, for tests: databases, servers, nginx and PgBouncer, on free ports."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import json
import os
from pathlib import Path
import pwd
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
from urllib.parse import urlsplit
import urllib.request
import uuid
import weakref

import psycopg

from benchmarks.processes import free_port
from copilot_admin.settings import BASE_DIR
from tests import services
from tests.polling import HANGS_SECONDS, eventually
from tests.production import production_environment

NOBODY = "nobody"
TOLD = 8000  # bytes of what a server said
COPILOT = """
format: 1
providers: [{{name: Model, kind: openai_compatible, base_url: "{url}"}}]
copilots:
  - {{slug: news, name: News, provider: Model, model: m, description: one, access: open}}
"""
QUESTION = json.dumps({"messages": [{"role": "human", "content": "Hello"}]}).encode()


def free_ports(number: int) -> list[int]:
    """Ports that differ."""
    found = set[int]()
    while len(found) < number:
        found.add(free_port())
    return list(found)


def answers(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


def asked(url: str, body: bytes | None = None, **headers: str) -> tuple[int, bytes]:
    """Status and body; 0 and the words of what went wrong."""
    headers = {"Content-Type": "application/json"} | headers
    request = urllib.request.Request(url, data=body, headers=headers)  # loopback
    try:
        with urllib.request.urlopen(request, timeout=HANGS_SECONDS) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as error:
        return 0, repr(error).encode()


@contextmanager
def fresh_database() -> Iterator[str]:
    """The URL of an empty database, which goes afterwards."""
    name = f"test_deploy_{uuid.uuid4().hex}"
    with psycopg.connect(services.DATABASE_URL, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        try:
            yield urlsplit(services.DATABASE_URL)._replace(path=f"/{name}").geturl()
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def production(folder: Path, database: str, **changes: str) -> dict[str, str]:
    """The environment of a server; no deadline of it ends on a busy machine."""
    return {
        **production_environment(str(folder / "data")),
        "ALLOWED_HOSTS": "127.0.0.1,localhost",
        "DATABASE_URL": database,
        "DJANGO_SETTINGS_MODULE": "tests.server.patient_settings",
        **changes,
    }


def manage(environment: Mapping[str, str], *arguments: str, code: Path = BASE_DIR) -> str:
    """What a command says that has to end well."""
    ended = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=code, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


class Server:
    """A server that is started and stopped within a test, from a folder with code.

    What it says is kept, and told where it does not do what it should.
    """

    def __init__(
        self, environment: Mapping[str, str], port: int, *, code: Path = BASE_DIR, workers: int = 1
    ) -> None:
        self.port = port
        command = [sys.executable, "manage.py", "serve", "--port", str(port)]
        self._said, name = tempfile.mkstemp()
        Path(name).unlink()
        weakref.finalize(self, os.close, self._said)
        self.process = subprocess.Popen(
            [*command, "--workers", str(workers)],
            cwd=code, env=environment, stdout=self._said, stderr=self._said,
        )  # fmt: skip

    def wait_until_ready(self) -> None:
        def is_ready() -> bool:
            return asked(f"http://127.0.0.1:{self.port}/readyz")[0] == 200

        ended = eventually(lambda: is_ready() or self.process.poll() is not None)
        assert ended, f"the server is not ready: {self.said()}"
        assert self.process.poll() is None, f"the server ended: {self.said()}"

    def said(self) -> str:
        """The end of what it printed and logged."""
        size = os.fstat(self._said).st_size
        return os.pread(self._said, TOLD, max(0, size - TOLD)).decode(errors="replace")

    def stop(self) -> None:
        """Ends it as an operator does, and waits until it has drained."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        # uvicorn ends with the signal that it was sent, its parent of several workers with 0.
        status = self.process.wait(2 * HANGS_SECONDS)
        assert status in (0, -signal.SIGTERM), f"the server ended with {status}: {self.said()}"


@contextmanager
def serving(*servers: Server) -> Iterator[None]:
    try:
        for server in servers:
            server.wait_until_ready()
        yield
    finally:
        for server in servers:
            server.stop()


@contextmanager
def program(command: Sequence[str], *, port: int, log: Path) -> Iterator[None]:
    """A program of the machine that listens within the block."""
    with log.open("w") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        try:
            assert eventually(lambda: answers(port) or process.poll() is not None)
            assert process.poll() is None, log.read_text()
            yield
        finally:
            process.terminate()
            process.wait(HANGS_SECONDS)


def as_nobody() -> list[str]:
    """What stands before a program that refuses to be root; its files have to be his."""
    return ["setpriv", f"--reuid={NOBODY}", "--clear-groups"] if os.geteuid() == 0 else []


def give_to_nobody(*paths: Path) -> None:
    if os.geteuid() == 0:
        for path in paths:
            os.chown(path, pwd.getpwnam(NOBODY).pw_uid, -1)


class _Slow(BaseHTTPRequestHandler):
    """Says its words one after the other, as a model does."""

    words, pause = 40, 0.1
    ends = threading.Event()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for number in range(self.words):
            self._say({"delta": {"content": f"w{number} "}})
            self.ends.wait(self.pause)
        self._say({"delta": {}, "finish_reason": "stop"})
        self.wfile.write(b"data: [DONE]\n\n")

    def _say(self, choice: dict) -> None:
        body = {"id": "1", "object": "chat.completion.chunk", "model": "m"}
        chunk = {**body, "choices": [{"index": 0, **choice}]}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        pass


class _Models(ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = True


@contextmanager
def slow_model() -> Iterator[str]:
    """The URL of a model that takes four seconds for an answer."""
    server = _Models(("127.0.0.1", 0), _Slow)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def is_whole(body: bytes) -> bool:
    """Whether an answer has every word of the model."""
    said = "".join(
        json.loads(line.removeprefix("data: ")).get("delta", "")
        for line in body.decode().splitlines()
        if line.startswith("data: ")
    )
    return said.split() == [f"w{number}" for number in range(_Slow.words)]


class Askers:
    """Clients that ask again as soon as they have an answer.

    Args:
        url: Where they ask.
        streams: How many there are.
    """

    def __init__(self, url: str, *, streams: int) -> None:
        self.answers: list[tuple[int, bytes]] = []
        self._url = url
        self._enough = threading.Event()
        self._threads = [threading.Thread(target=self._ask_on) for _ in range(streams)]
        for thread in self._threads:
            thread.start()

    def _ask_on(self) -> None:
        while not self._enough.is_set():
            self.answers.append(asked(self._url, QUESTION))

    def wait_for_more(self) -> None:
        """Wait until as many answers have come as there are clients."""
        so_far = len(self.answers)
        assert eventually(lambda: len(self.answers) >= so_far + len(self._threads))

    def stop(self) -> None:
        """Wait for the last answers."""
        self._enough.set()
        for thread in self._threads:
            thread.join(2 * HANGS_SECONDS)
