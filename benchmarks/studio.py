"""What a builder waits for: the editor of a copilot with 200 versions, and the playground's first words.

The question of the playground is asked through the API as well, of the same copilot, in turns.
"""

from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
import json
from statistics import median
import sys
import time
from urllib.parse import urlencode

from benchmarks import servers
from benchmarks.processes import away_from_the_server, running
from benchmarks.servers import Installation, installation, rehearsed_file
from tests.admin.pages import Values, values_in

EDITOR_MS = 150.0  # of the server's time
FIRST_WORDS_MS = 100.0  # more than through the API
SLUG, COPILOT = "bench", 1
EDITOR = f"/admin/copilot_admin/copilot/{COPILOT}/change/"
QUESTION = {"messages": [{"role": "human", "content": "What can you do?"}]}
_PREPARE = """
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from copilot_admin.copilots.publishing import publish
from copilot_admin.models import Copilot
copilot = Copilot.objects.get(slug="{slug}")
for number in range({versions} - 1):
    copilot.description = f"Number {{number}}"
    copilot.save()
    publish(copilot, user=None)
user = User.objects.create_superuser("bench")
session = SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.save()
print(session.session_key)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """What was measured.

    Attributes:
        editor_ms: Server's CPU for one page of the editor.
        typed_ms: To the first words of the playground, the median.
        asked_ms: To those of the same question through the API.
    """

    editor_ms: float
    typed_ms: float
    asked_ms: float

    @property
    def kept(self) -> bool:
        """Whether both are as short as promised."""
        return self.editor_ms <= EDITOR_MS and self.typed_ms - self.asked_ms <= FIRST_WORDS_MS

    def __str__(self) -> str:
        return (
            f"editor: {self.editor_ms:.0f} ms of CPU, at most {EDITOR_MS:.0f}\n"
            f"first words in the playground: {self.typed_ms:.0f} ms, through the API "
            f"{self.asked_ms:.0f} ms; at most {FIRST_WORDS_MS:.0f} ms more\n"
            f"{'kept' if self.kept else 'NOT KEPT'}"
        )


def main(arguments: Sequence[str]) -> int:
    """Measures; returns the status of the process."""
    parser = ArgumentParser(prog="python -m benchmarks.studio", description=__doc__)
    parser.add_argument("--versions", type=int, default=200)
    parser.add_argument("--times", type=int, default=20, help="how often each; the median counts")
    options = parser.parse_args(arguments)
    with away_from_the_server():
        waits = measure(versions=options.versions, times=options.times)
    print(waits)
    return 0 if waits.kept else 1


def measure(*, versions: int, times: int) -> Waits:
    """Fills a database, starts our server and asks it one thing after the other."""
    with servers.upstream() as model, installation(model, file=rehearsed_file(SLUG)) as installed:
        session = _prepared(installed, versions=versions)
        with running(installed.start()) as process, _builder(process.port, session) as builder:
            form = builder.editor()
            before = process.cpu_seconds()
            for _ in range(times):
                builder.editor()
            editor_ms = (process.cpu_seconds() - before) * 1000 / times
            both = [(builder.typed(form), builder.asked()) for _ in range(times)]
    typed, asked = zip(*both, strict=True)
    return Waits(editor_ms=editor_ms, typed_ms=median(typed), asked_ms=median(asked))


def _prepared(installed: Installation, *, versions: int) -> str:
    """Publishes the versions and logs somebody in; returns the key of the session."""
    program = _PREPARE.format(slug=SLUG, versions=versions)
    return installed.manage("shell", "--verbosity", "0", "--command", program).split()[-1]


@contextmanager
def _builder(port: int, session: str) -> "Iterator[_Builder]":
    with closing(HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        yield _Builder(connection, session)


class _Builder:
    """Somebody at the pages of a copilot."""

    def __init__(self, connection: HTTPConnection, session: str) -> None:
        self._connection = connection
        self._cookies = {"sessionid": session}

    def editor(self) -> Values:
        """Opens the editor; what a browser would send of it."""
        self._connection.request("GET", EDITOR, headers=self._headers())
        response = self._connection.getresponse()
        page = response.read().decode()
        assert response.status == 200, f"the editor answered {response.status}"
        for cookie in response.headers.get_all("Set-Cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        return values_in(page, form_id="copilot_form")

    def typed(self, form: Values) -> float:
        """Milliseconds to the first words of the draft that the form describes."""
        body = urlencode({**form, "playground": json.dumps(QUESTION)}, doseq=True)
        headers = {
            **self._headers(),
            "Content-Type": "application/x-www-form-urlencoded",
            "X-Trace-Id": f"typed-{time.monotonic_ns()}",
        }
        return self._first_words(f"/admin/playground/{COPILOT}/ask/", body, headers)

    def asked(self) -> float:
        """Milliseconds to the first words of what is live."""
        headers = {"Content-Type": "application/json"}
        return self._first_words(f"/v1/copilots/{SLUG}/query", json.dumps(QUESTION), headers)

    def _first_words(self, path: str, body: str, headers: dict[str, str]) -> float:
        began = time.perf_counter()
        self._connection.request("POST", path, body, headers)
        response = self._connection.getresponse()
        assert response.status == 200, f"{path} answered {response.status}"
        while b"copilotMessageChunk" not in (line := response.readline()):
            assert line, "the answer has no words"
        took = (time.perf_counter() - began) * 1000
        response.read()
        return took

    def _headers(self) -> dict[str, str]:
        return {"Cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
