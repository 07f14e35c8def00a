"""A PostgreSQL whose user may not install extensions: all is there but the speed of a search."""

from collections.abc import Iterator
import json
import os
import subprocess
import sys
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest

from copilot_admin.settings import BASE_DIR
from tests import services

# All tables are made anew by a command, which takes as long as five hundred of the other tests.
pytestmark = [pytest.mark.postgres, pytest.mark.database, pytest.mark.nightly]

SEARCHED = """
import json, django
django.setup()
from copilot_admin.models import Conversation
from copilot_admin.transcripts.search.list_query import search
from tests.transcripts.store.journaling import Client
client = Client()
for words in ("Rates and bonds", "Oil"):
    client.ask(words).answer("Well.")
page, _ = search(Conversation.objects.order_by("-last_at", "-id"), ("bonds",), size=50)
print(json.dumps([one.title for one in page]))
"""


@pytest.fixture
def environment(tmp_path) -> Iterator[dict[str, str]]:
    """Environment of commands over a new database whose user owns nothing of it."""
    name = f"copilot_admin_plain_{uuid4().hex[:8]}"
    server = urlsplit(services.DATABASE_URL)
    with psycopg.connect(services.DATABASE_URL, autocommit=True) as administrator:
        administrator.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{name}'")
        administrator.execute(f"CREATE DATABASE {name}")
        try:
            with psycopg.connect(server._replace(path=f"/{name}").geturl()) as own:
                own.execute(f"GRANT USAGE, CREATE ON SCHEMA public TO {name}")
            host = server.netloc.rpartition("@")[2]
            yield {
                **os.environ,
                "DJANGO_SETTINGS_MODULE": "tests.settings",
                "DATABASE_URL": f"postgres://{name}:{name}@{host}/{name}",
                "COPILOT_DATA_DIR": str(tmp_path),
            }
        finally:
            administrator.execute(f"DROP DATABASE {name} WITH (FORCE)")
            administrator.execute(f"DROP ROLE {name}")


def run(*arguments: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Python with some arguments, which is to end well."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=BASE_DIR, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done


def test_without_the_extension_a_warning_is_logged_and_only_new_conversations_are_searched(
    environment,
):
    migrated = run("manage.py", "migrate", "--verbosity", "0", environment=environment)
    (told,) = [line for line in migrated.stderr.splitlines() if "pg_trgm" in line]
    assert "WARNING copilot_admin.migrations PostgreSQL does not let this user install" in told
    mending = told.partition('"')[2].rpartition('"')[0]
    found = json.loads(run("-c", SEARCHED, environment=environment).stdout)
    assert found == ["Rates and bonds"]
    administrators = urlsplit(services.DATABASE_URL)._replace(
        path=urlsplit(environment["DATABASE_URL"]).path
    )
    with psycopg.connect(administrators.geturl()) as own:
        own.execute(mending.encode())
        ((index,),) = own.execute(
            "SELECT indexdef FROM pg_indexes WHERE indexname = 'turn_text_trigrams'"
        ).fetchall()
    assert index.endswith("USING gin (text gin_trgm_ops)")
