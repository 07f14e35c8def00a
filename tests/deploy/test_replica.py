"""Transcripts and figures are read from a replica, and from the primary where that knows better."""

from collections.abc import Mapping
from contextlib import ExitStack
from http.cookies import SimpleCookie
import urllib.error
from urllib.parse import urlsplit
import urllib.request

import psycopg
import pytest

from benchmarks.processes import free_port
from copilot_admin.http.fresh_pages import COOKIE
from tests import services
from tests.deploy.machine import (
    Server,
    fresh_database,
    manage,
    production,
    serving,
    with_standby,
)
from tests.waiting import HANGS_SECONDS, eventually

pytestmark = [pytest.mark.nightly, pytest.mark.postgres]
LIST = "/admin/copilot_admin/conversation/"
ROWS = """
from datetime import timedelta
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone
from copilot_admin.models import Conversation, Copilot, Provider
provider = Provider.objects.create(name="R", kind="rehearsal")
copilot = Copilot.objects.create(slug="news", name="News of {where}", provider=provider, model="m")
then = timezone.now() - timedelta(hours=2)
for number in range({rows}):
    Conversation.objects.create(
        copilot=copilot, principal="anonymous", first_at=then, last_at=then, n_turns=1, n_runs=1, last_outcome="completed",
        title="asked of {where}",
    )
user = User.objects.create_superuser("admin", password="x")
session = SessionStore()
session["_auth_user_id"] = str(user.pk)
session["_auth_user_backend"] = "django.contrib.auth.backends.ModelBackend"
session["_auth_user_hash"] = user.get_session_auth_hash()
session.create()
print("SESSION", session.session_key)
"""


class Browser:
    """Keeps cookies, and follows nothing."""

    def __init__(self, url: str, session: str) -> None:
        self.url, self.cookies = url, {"sessionid": session}

    def ask(self, path: str, data: bytes | None = None) -> tuple[int, str]:
        sent = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        request = urllib.request.Request(self.url + path, data=data, headers={"Cookie": sent})
        try:
            answer = urllib.request.urlopen(request, timeout=HANGS_SECONDS)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            for line in answer.headers.get_all("Set-Cookie") or ():
                self.cookies |= {key: one.value for key, one in SimpleCookie(line).items()}
            return answer.status, answer.read().decode()


def filled(environment: Mapping[str, str], where: str, rows: int) -> str:
    """Makes tables and rows; returns the session of somebody who is logged in."""
    manage(environment, "migrate", "--no-input")
    said = manage(environment, "shell", "--command", ROWS.format(where=where, rows=rows))
    return said.rpartition("SESSION ")[2].strip()


def test_pages_come_from_the_replica_until_somebody_writes_or_it_is_gone(tmp_path):
    with fresh_database() as primary, fresh_database() as replica:
        changes = {"COPILOT_ENV": "development"}  # for a session over http
        environment = production(tmp_path, primary, **changes)
        session = filled(environment, "the primary", 2)
        filled(production(tmp_path, replica, **changes), "the replica", 1)
        server = Server({**environment, "COPILOT_REPLICA_URL": replica}, free_port())
        with serving(server):
            browser = Browser(f"http://127.0.0.1:{server.port}", session)

            def read() -> tuple[bool, bool]:
                status, page = browser.ask(LIST)
                assert status == 200
                return "asked of the replica" in page, "asked of the primary" in page

            assert read() == (True, False)
            assert "News of the replica" in browser.ask("/admin/figures/")[1]
            assert "asked of the replica" in browser.ask(f"{LIST}1/change/")[1]
            # What the replica does not have yet.
            assert "asked of the primary" in browser.ask(f"{LIST}2/change/")[1]

            browser.ask(f"{LIST}views/save/", b"name=x")
            assert (browser.cookies.pop(COOKIE), read()) == ("1", (True, False))
            browser.cookies[COOKIE] = "1"
            assert read() == (False, True)

            del browser.cookies[COOKIE]
            with psycopg.connect(services.DATABASE_URL, autocommit=True) as admin:
                name = urlsplit(replica).path[1:]
                admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
                    [name],
                )
            assert read() == (False, True)


def test_what_a_streaming_replica_has_not_yet_heard_is_read_by_whoever_wrote_it(tmp_path):
    with with_standby() as (primary, standby), ExitStack() as open_lines:
        environment = production(tmp_path, primary, COPILOT_ENV="development")
        session = filled(environment, "the primary", 1)
        here, there = (
            open_lines.enter_context(psycopg.connect(url, autocommit=True))
            for url in (primary, standby)
        )

        def say(title: str) -> None:
            here.execute("UPDATE copilot_admin_conversation SET title = %s", [title])

        def heard(title: str) -> bool:
            rows = there.execute("SELECT title FROM copilot_admin_conversation").fetchall()
            return bool(rows == [(title,)])

        server = Server({**environment, "COPILOT_REPLICA_URL": standby}, free_port())
        with serving(server):
            browser = Browser(f"http://127.0.0.1:{server.port}", session)
            say("heard of")
            assert eventually(lambda: heard("heard of"))
            there.execute("SELECT pg_wal_replay_pause()")
            say("too new")
            assert "heard of" in browser.ask(LIST)[1]
            pages = (f"{LIST}?q=heard", "/admin/figures/", f"{LIST}1/change/")
            assert [browser.ask(page)[0] for page in pages] == [200] * 3
            assert "heard of" in browser.ask(f"{LIST}1/change/")[1]
            browser.cookies[COOKIE] = "1"
            assert "too new" in browser.ask(LIST)[1]
            del browser.cookies[COOKIE]
            there.execute("SELECT pg_wal_replay_resume()")
            assert eventually(lambda: "too new" in browser.ask(LIST)[1])
