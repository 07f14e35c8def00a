"""PostgreSQL that does not let the server at a table any more: an outage, told as what it is."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from asgiref.sync import async_to_sync
from django.db import OperationalError, connection
from django.test import AsyncClient, Client
import pytest

from copilot_admin.api import health
from copilot_admin.models import Copilot
from copilot_admin.server.database_faults import sentence_of
from copilot_admin.storage.postgresql_codes import NOT_PERMITTED
from tests.api.test_outages import HELLO, QUERY, page_of_a_session, ready
from tests.databases import end_all_others, on_postgresql
from tests.factories import make_published

pytestmark = [pytest.mark.database, on_postgresql, pytest.mark.django_db(transaction=True)]
TABLE = "copilot_admin_copilot"
ANYBODY = "pg_monitor"  # a role that every PostgreSQL has, and that has no right on our tables


@contextmanager
def gone(table: str) -> Iterator[None]:
    """Somebody has dropped a table, and then thinks better of it."""
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {table} RENAME TO was_{table}")
        try:
            yield
        finally:
            cursor.execute(f"ALTER TABLE was_{table} RENAME TO {table}")


def test_questions_pages_and_health_say_so_until_the_table_is_there_again(caplog):
    make_published(slug="news")
    with gone(TABLE):
        response = async_to_sync(AsyncClient().post)(QUERY, HELLO, content_type="application/json")
        assert (response.status_code, response.json()["code"]) == (503, "journal-down")
        assert Client().get("/agents.json").status_code == 503
        assert page_of_a_session("/admin/login/", is_async=False).status_code == 200
        assert ready() == (503, health.RIGHTS)
    assert ready() == (200, None)
    assert (
        f"this server is not ready: the role of the database has no right to SELECT on {TABLE}, or "
        "there is no such table"
    ) in caplog.messages
    assert Client().get("/agents.json").status_code == 200


def test_a_page_whose_table_is_gone_is_not_available():
    with gone("django_session"):
        assert page_of_a_session("/admin/", is_async=False).status_code == 503


@contextmanager
def only_to_be_read() -> Iterator[None]:
    """Every session that begins meanwhile may not write, as those of a standby."""
    with connection.cursor() as cursor:
        name = connection.ops.quote_name(connection.settings_dict["NAME"])
        cursor.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    _begin_anew()
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE")
            cursor.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
        _begin_anew()


def _begin_anew() -> None:
    """What is set for a database holds for sessions that begin: none stays, this thread's neither."""
    end_all_others()
    session: Any = connection
    session.close_pool()


def test_a_database_that_can_only_be_read_is_told_before_anybody_is_refused(caplog):
    assert ready() == (200, None)
    with only_to_be_read():
        assert ready() == (503, health.READ_ONLY)
    assert ready() == (200, None)
    assert f"this server is not ready: {health.READ_ONLY}" in caplog.messages


@pytest.fixture
def as_anybody() -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {ANYBODY}")
        yield
        cursor.execute("RESET ROLE")


def test_without_rights_it_is_an_outage_and_the_operator_is_told_what_to_grant(as_anybody):
    with pytest.raises(OperationalError) as refused:
        Copilot.objects.exists()
    assert refused.value.__cause__ is not None
    assert getattr(refused.value.__cause__, "sqlstate", None) == NOT_PERMITTED
    assert sentence_of(refused.value) == (
        "PostgreSQL does not let the user of DATABASE_URL at a table. Grant him the rights on all "
        "tables and sequences; its own log names the table."
    )
