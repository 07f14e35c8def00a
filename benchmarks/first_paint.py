"""What a reviewer waits for: the first paint of long and of big conversations, in the server's time."""

from argparse import ArgumentParser
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
import json
import re
import sys

from benchmarks import servers
from benchmarks.processes import away_from_the_server, running
from benchmarks.servers import Installation, installation, rehearsed_file

FIRST_PAINT_MS = 150.0  # of the server's CPU
SLUG = "bench"
_PREPARE = """
import json
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from copilot_admin.models import Copilot
from protocol.events import ArtifactType
from tests.admin.transcripts.transcript_rows import PRICES, artifact, call, echo, long_conversation, results
from tests.transcripts.store.journaling import Client
version = Copilot.objects.get(slug="{slug}").live
made = {{
    f"{{turns}} turns": long_conversation(turns, rows=PRICES, version=version).pk for turns in {turns}
}}
if {megabytes}:
    rows = [
        {{"day": day, "close": day * 1.5, "volume": day * 1000, "note": "some words of a row"}}
        for day in range({megabytes} * 14_000)
    ]
    client, asked = Client(version=version, trace_id="big"), call(symbol="AAPL")
    client.ask("Prices?").answer(asked)
    back = client.ask("Prices?", echo(asked), results(asked, json.dumps(rows)))
    big = back.answer("Here.", artifact(ArtifactType.TABLE, rows))
    made["{megabytes} MB, as a result and as a table"] = big.conversation.pk
user = User.objects.create_superuser("bench")
session = SessionStore()
session[SESSION_KEY] = str(user.pk)
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session[HASH_SESSION_KEY] = user.get_session_auth_hash()
session.save()
print(json.dumps([session.session_key, made]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paint:
    """The page of one conversation.

    Attributes:
        ms: The server's CPU for it.
        elements: Of its HTML.
        kilobytes: Of its HTML, before it is compressed.
    """

    name: str
    ms: float
    elements: int
    kilobytes: int

    @property
    def kept(self) -> bool:
        """Whether it is as quick as promised."""
        return self.ms <= FIRST_PAINT_MS

    def __str__(self) -> str:
        kept = "kept" if self.kept else "NOT KEPT"
        return (
            f"{self.name}: {self.ms:.0f} ms of CPU, at most {FIRST_PAINT_MS:.0f}: {kept}; "
            f"{self.elements} elements, {self.kilobytes} kB"
        )


def main(arguments: Sequence[str]) -> int:
    """Measures; returns the status of the process."""
    parser = ArgumentParser(prog="python -m benchmarks.first_paint", description=__doc__)
    parser.add_argument("--turns", type=int, nargs="+", default=[3, 100, 200, 1000])
    parser.add_argument("--megabytes", type=int, default=5, help="of one table; 0: none")
    parser.add_argument("--times", type=int, default=20, help="how often each; the mean counts")
    options = parser.parse_args(arguments)
    with away_from_the_server():
        paints = measure(turns=options.turns, megabytes=options.megabytes, times=options.times)
    print(*paints, sep="\n")
    return 0 if all(paint.kept for paint in paints) else 1


def measure(*, turns: Sequence[int], megabytes: int, times: int) -> list[Paint]:
    """Fills a database, starts our server and opens one page after the other."""
    with servers.upstream() as model, installation(model, file=rehearsed_file(SLUG)) as installed:
        session, made = _prepared(installed, turns=turns, megabytes=megabytes)
        with (
            running(installed.start()) as process,
            closing(HTTPConnection("127.0.0.1", process.port, timeout=60)) as connection,
        ):
            paints = []
            for name, pk in made.items():
                page = _opened(connection, session, pk)
                before = process.cpu_seconds()
                for _ in range(times):
                    _opened(connection, session, pk)
                took = (process.cpu_seconds() - before) * 1000 / times
                elements = len(re.findall(r"<[a-z]", page))
                size = len(page.encode()) // 1000
                paints.append(Paint(name=name, ms=took, elements=elements, kilobytes=size))
    return paints


def _prepared(
    installed: Installation, *, turns: Sequence[int], megabytes: int
) -> tuple[str, dict[str, int]]:
    """Makes the conversations and logs somebody in; returns his session, and ids by name."""
    program = _PREPARE.format(slug=SLUG, turns=list(turns), megabytes=megabytes)
    told = installed.manage("shell", "--verbosity", "0", "--command", program)
    session, made = json.loads(told.strip().splitlines()[-1])
    return session, made


def _opened(connection: HTTPConnection, session: str, pk: int) -> str:
    path = f"/admin/copilot_admin/conversation/{pk}/change/"
    connection.request("GET", path, headers={"Cookie": f"sessionid={session}"})
    response = connection.getresponse()
    page = response.read().decode()
    assert response.status == 200, f"the page answered {response.status}"
    return page


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
