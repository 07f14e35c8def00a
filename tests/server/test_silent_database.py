"""PostgreSQL that says nothing: a page is told so, and there is an answer when it speaks again."""

from typing import Any

from django.db import OperationalError, connection
from django.test import Client
from django.urls import reverse
import pytest

from copilot_admin.config import bounded_connection
from copilot_admin.config.bounded_connection import BoundedConnection
from copilot_admin.config.statement_limits import without_statement_timeout
from tests.databases import on_postgresql
from tests.factories import make_copilot, make_user

pytestmark = [pytest.mark.database, on_postgresql, pytest.mark.django_db(transaction=True)]
SHORT = 0.05
LONG = 3  # seconds for which the server says nothing


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(make_user(is_superuser=True))
    return client


def silent_for(*, table: str) -> Any:
    """Statements about a table are answered by nobody."""

    def instead(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if f'"{table}"' in sql:
            return execute("SELECT pg_sleep(%s)", [LONG], many, context)
        return execute(sql, params, many, context)

    return connection.execute_wrapper(instead)


@pytest.mark.parametrize("table", ["django_session", "copilot_admin_copilot"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_page_says_that_it_is_not_available_and_is_there_again(
    monkeypatch, browser, table, method
):
    url = reverse("admin:copilot_admin_copilot_change", args=[make_copilot().pk])
    with monkeypatch.context() as patch, silent_for(table=table):
        patch.setattr(BoundedConnection, "answers_within", SHORT)
        connection.close()  # what the test has used waits for longer
        page = getattr(browser, method)(url)
        connection.close_if_unusable_or_obsolete()  # as at the end of every request
    bounded_connection._waited.told_soon_until = 0.0  # in this thread; a request has one of its own
    assert (page.status_code, page["Retry-After"]) == (503, "5")
    assert "<h1>Not available now</h1>" in page.content.decode()
    assert browser.get(url).status_code == 200


class TestWithoutLimits:
    def limits(self) -> tuple[str, float | None]:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return cursor.fetchone()[0], connection.connection.answers_within

    def test_there_are_none_inside_and_those_from_before_afterwards(self):
        before = self.limits()
        with without_statement_timeout():
            assert self.limits() == ("0", None)
        assert self.limits() == before == ("2min", 120.0)

    def test_also_when_what_was_done_has_failed(self):
        before = self.limits()
        with pytest.raises(OperationalError), without_statement_timeout():
            raise OperationalError
        assert self.limits() == before

    def test_also_for_a_role_without_rights(self):
        with connection.cursor() as cursor:
            cursor.execute("SET ROLE pg_monitor")
            before = self.limits()
            with without_statement_timeout():
                assert self.limits() == ("0", None)
            assert self.limits() == before
            cursor.execute("RESET ROLE")
