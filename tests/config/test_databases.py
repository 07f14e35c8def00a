"""Entries of `DATABASES`, required session settings, and statements without a time limit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.db import connection
import psycopg
import pytest

from copilot_admin.config.databases import (
    COMMAND_OPTIONS,
    CONNECT_OPTIONS,
    POOL_OPTIONS,
    SERVER_OPTIONS,
    is_maintenance_command,
    parse_database_url,
    without_statement_timeout,
)
from tests import services
from tests.databases import on_postgresql

POSTGRES = "postgres://u:p@h:5433/n"


def parse(url: str, **options: bool) -> dict[str, Any]:
    return parse_database_url(url, data_dir=Path("/data"), **options)


@pytest.mark.parametrize(
    ("url", "path"),
    [("", "/data/copilot.sqlite3"), ("sqlite:////elsewhere/a.db", "/elsewhere/a.db")],
)
def test_sqlite_is_durable_and_waits_for_its_lock(url, path):
    entry = parse(url)
    assert entry["NAME"] == Path(path)
    assert entry["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert entry["OPTIONS"]["timeout"] == 4
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "busy_timeout=4000"):
        assert pragma in entry["OPTIONS"]["init_command"]


def test_postgresql_has_a_pool_and_time_limits():
    entry = parse(f"{POSTGRES}?sslmode=require")
    assert (entry["USER"], entry["HOST"], entry["PORT"]) == ("u", "h", 5433)
    assert (entry["CONN_MAX_AGE"], entry["CONN_HEALTH_CHECKS"]) == (0, True)
    options = entry["OPTIONS"]
    assert options.items() >= {**CONNECT_OPTIONS, "sslmode": "require"}.items()
    assert options["pool"] == POOL_OPTIONS
    for option in ("statement_timeout=3000", "lock_timeout=2000", "jit=off", "datestyle=ISO"):
        assert f"-c {option}" in options["options"]


def test_behind_pgbouncer_nothing_is_set_for_a_session():
    entry = parse(POSTGRES, pgbouncer=True)
    assert "options" not in entry["OPTIONS"]
    assert entry["DISABLE_SERVER_SIDE_CURSORS"] is True


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["manage.py", "migrate"], True),
        (["/srv/app/manage.py", "sweep"], True),
        (["django-admin", "copilots", "import"], True),
        (["manage.py", "serve", "--workers", "2"], False),
        (["manage.py", "quickstart"], False),
        (["manage.py", "runserver"], False),
        (["/usr/bin/uvicorn", "copilot_admin.asgi:application"], False),
        ([], False),
    ],
)
def test_only_commands_that_serve_nobody_have_no_statement_timeout(argv, expected):
    assert is_maintenance_command(argv) is expected
    options = parse(POSTGRES, maintenance=expected)["OPTIONS"]["options"]
    assert ("-c statement_timeout=0 " in options) is expected


@pytest.mark.database
@on_postgresql
@pytest.mark.django_db(transaction=True)
class TestWithoutStatementTimeout:
    def timeout(self) -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            (found,) = cursor.fetchone()
        return str(found)

    def test_lasts_for_the_block_also_after_an_error(self):
        before = self.timeout()
        with pytest.raises(ZeroDivisionError), without_statement_timeout():
            assert self.timeout() == "0"
            raise ZeroDivisionError
        assert self.timeout() == before != "0"


@pytest.fixture
def database() -> Iterator[str]:
    """The address of a database on which somebody has set what is his habit."""
    name = connection.settings_dict["NAME"]
    with psycopg.connect(services.DATABASE_URL, autocommit=True) as admin:
        admin.execute(f'ALTER DATABASE "{name}" SET datestyle = "German, DMY"')
        admin.execute(f'ALTER DATABASE "{name}" SET default_transaction_isolation = "serializable"')
        try:
            yield urlsplit(services.DATABASE_URL)._replace(path=f"/{name}").geturl()
        finally:
            admin.execute(f'ALTER DATABASE "{name}" RESET ALL')


@pytest.mark.database
@on_postgresql
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("options", [SERVER_OPTIONS, COMMAND_OPTIONS])
def test_dates_are_read_and_transactions_see_what_others_have_committed(database, options):
    """Each question was a fault of the server: psycopg cannot read dates of any other form."""
    with psycopg.connect(database, options=options) as session:
        now, isolation = session.execute(
            "SELECT now(), current_setting('transaction_isolation')"
        ).fetchone() or ("", "")
    assert (now.year > 2000, isolation) == (True, "read committed")
