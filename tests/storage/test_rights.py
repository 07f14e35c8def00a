"""What the role of PostgreSQL may not do is named, with the table."""

from django.db import connection
import pytest

from copilot_admin.storage.rights import fault_of_rights
from tests.databases import on_postgresql

pytestmark = [pytest.mark.database, pytest.mark.django_db]


def test_a_role_that_has_its_rights_lacks_none():
    assert fault_of_rights() == ""


@on_postgresql
def test_a_table_that_may_not_be_read_and_one_that_is_not_there_are_named():
    with connection.cursor() as cursor:
        cursor.execute("CREATE ROLE copilot_rights_tried")
        cursor.execute("GRANT USAGE ON SCHEMA public TO copilot_rights_tried")
        cursor.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO copilot_rights_tried")
        cursor.execute("SET LOCAL ROLE copilot_rights_tried")
        assert fault_of_rights() == ""
        cursor.execute("RESET ROLE")
        for right in ("UPDATE", "SELECT"):
            cursor.execute(f"REVOKE {right} ON copilot_admin_run FROM copilot_rights_tried")
            cursor.execute("SET LOCAL ROLE copilot_rights_tried")
            assert fault_of_rights() == lacking(right, "copilot_admin_run")
            cursor.execute("RESET ROLE")
        cursor.execute("ALTER TABLE django_session RENAME TO gone")
        assert fault_of_rights() == lacking("SELECT", "django_session")


def lacking(right: str, table: str) -> str:
    return f"the role of the database has no right to {right} on {table}, or there is no such table"
