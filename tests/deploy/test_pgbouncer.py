"""Two workers serve through PgBouncer in transaction mode, with fewer connections than they think."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
import re
from urllib.parse import urlsplit

import psycopg
import pytest

from copilot_admin.settings import BASE_DIR
from tests.deploy.machine import (
    QUESTION,
    Server,
    as_nobody,
    asked,
    free_ports,
    fresh_database,
    give_to_nobody,
    manage,
    production,
    program,
    serving,
)
from tests.services import pgbouncer

pytestmark = [pytest.mark.nightly, pytest.mark.pgbouncer, pytest.mark.postgres]
OPERATIONS = (BASE_DIR / "docs" / "operations.md").read_text()
(FILE,) = re.findall(r"```ini\n(\[databases\].*?)```", OPERATIONS, re.DOTALL)
QUESTIONS = 200
POOL = 5
COPILOT = """
format: 1
providers: [{name: R, kind: rehearsal}]
copilots: [{slug: news, name: News, provider: R, model: rehearsal, description: one, access: open}]
"""


def configured(folder: Path, port: int, database: str) -> Path:
    """The file of the documents, for this machine: a few connections for all."""
    server = urlsplit(database)
    text = FILE
    for before, after in {
        r"^copilot = host=127.0.0.1 port=5432 dbname=copilot": (
            f"copilot = host={server.hostname} port={server.port or 5432} "
            f"dbname={server.path[1:]} user={server.username}"
        ),
        r"^listen_port = .*": f"listen_port = {port}",
        r"^auth_type = .*": "auth_type = any",
        r"^auth_file = .*": "",
        r"^(logfile|pidfile|unix_socket_dir) = .*": "",
        r"^default_pool_size = .*": f"default_pool_size = {POOL}",
    }.items():
        text, found = re.subn(before, after, text, flags=re.MULTILINE)
        assert found, before
    file = folder / "pgbouncer.ini"
    file.write_text(text)
    give_to_nobody(file)
    folder.chmod(0o755)
    return file


SESSION = """
SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
  current_setting('idle_in_transaction_session_timeout'), current_setting('jit'),
  (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_listening_channels())
"""


def of_each_connection(address: str) -> set[tuple[object, ...]]:
    """What the connections behind PgBouncer have of their sessions; each is held while others are asked."""
    with ExitStack() as stack:
        clients = [stack.enter_context(psycopg.connect(address)) for _ in range(POOL)]
        rows = (client.execute(SESSION, prepare=False).fetchall() for client in clients)
        return {row for (row,) in rows}


def test_questions_and_pages_need_no_connection_of_their_own(tmp_path):
    port, bouncer = free_ports(2)
    with fresh_database() as database:
        direct = production(tmp_path, database)
        manage(direct, "migrate", "--no-input")
        (tmp_path / "news.yaml").write_text(COPILOT)
        command = [*as_nobody(), pgbouncer() or "pgbouncer", "-q"]
        readable = Path("/tmp") / f"pgbouncer-{bouncer}"  # not below a folder of root alone
        readable.mkdir()
        file = configured(readable, bouncer, database)
        through = {
            **direct,
            "DATABASE_URL": f"postgres://copilot@127.0.0.1:{bouncer}/copilot",
            "COPILOT_PGBOUNCER": "on",
            "COPILOT_ANONYMOUS_CONCURRENT": "0",
            "COPILOT_ANONYMOUS_PER_MINUTE": "0",
        }
        with (
            program([*command, str(file)], port=bouncer, log=tmp_path / "pgbouncer.log"),
            serving(Server(through, port, workers=2)),
        ):
            manage(through, "copilots", "import", str(tmp_path / "news.yaml"), "--publish")
            url = f"http://127.0.0.1:{port}/v1/copilots/news/query"
            with ThreadPoolExecutor(40) as clients:
                told = list(clients.map(lambda _: asked(url, QUESTION)[0], range(QUESTIONS)))
            assert told == [200] * QUESTIONS
            manage(through, "copilots", "export", "--out", str(tmp_path / "out.yaml"))
            manage(through, "sweep")
            manage(through, "secrets", "rotate")
            manage(
                through,
                "transcripts",
                "export",
                "--format",
                "jsonl",
                "--output",
                str(tmp_path / "t"),
            )
            with psycopg.connect(database) as rows:
                (others,) = rows.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                    "AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
                ).fetchone()
                # Nothing of a session is left behind in what all share.
                (locks,) = rows.execute(
                    "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = "
                    "(SELECT oid FROM pg_database WHERE datname = current_database())"
                ).fetchone()
                outcomes = rows.execute(
                    "SELECT outcome, count(*) FROM copilot_admin_run GROUP BY outcome"
                ).fetchall()
            held = of_each_connection(f"host=127.0.0.1 port={bouncer} user=copilot dbname=copilot")
        file.unlink()
        readable.rmdir()
    assert (others <= POOL, locks, outcomes) == (True, 0, [("completed", QUESTIONS)])
    assert held == {("3s", "2s", "10s", "off", 0, 0)}
