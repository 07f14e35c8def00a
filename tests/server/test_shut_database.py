"""PostgreSQL that does not let the server at a table any more: an outage, told as what it is."""

from collections.abc import Iterator
from contextlib import contextmanager

from asgiref.sync import async_to_sync
from django.db import OperationalError, connection
from django.test import AsyncClient, Client
import pytest

from copilot_admin.models import Copilot
from copilot_admin.server.database_faults import sentence_of
from copilot_admin.storage.errors import INSUFFICIENT_PRIVILEGE
from tests.api.test_outages import HELLO, QUERY, page_of_a_session
from tests.databases import on_postgresql
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
        assert (response.status_code, response.json()["code"]) == (503, "database-unavailable")
        assert Client().get("/agents.json").status_code == 503
        assert page_of_a_session("/admin/login/", is_async=False).status_code == 200
    assert Client().get("/agents.json").status_code == 200


def test_a_page_whose_table_is_gone_is_not_available():
    with gone("django_session"):
        assert page_of_a_session("/admin/", is_async=False).status_code == 503


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
    assert getattr(refused.value.__cause__, "sqlstate", None) == INSUFFICIENT_PRIVILEGE
    assert sentence_of(refused.value) == (
        "PostgreSQL does not let the user of DATABASE_URL at a table. Grant him the rights on all "
        "tables and sequences; its own log names the table."
    )
