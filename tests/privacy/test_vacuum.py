"""`clear-files` reports success only if the files contain no deleted rows."""

from contextlib import contextmanager
import sqlite3

from django.core.management import CommandError, call_command
from django.db import connection
import psycopg
import pytest

from copilot_admin.management.commands import privacy
from copilot_admin.models import ComponentCall
from copilot_admin.privacy import erased_data
from tests.factories import make_call, make_version
from tests.polling import eventually
from tests.services import DATABASE_URL

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
CALLS = ComponentCall._meta.db_table
READING = f"SELECT * FROM {CALLS}"  # noqa: S608  # a name of ours


@contextmanager
def open_transaction(*, reads):
    """Somebody else's, which began before: on PostgreSQL it has read the table, or nothing yet."""
    if connection.vendor == "sqlite":
        other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)
    else:
        name = connection.settings_dict["NAME"]
        other = psycopg.connect(DATABASE_URL, dbname=name, autocommit=True)
    try:
        other.execute(
            "BEGIN" if connection.vendor == "sqlite" else "BEGIN ISOLATION LEVEL REPEATABLE READ"
        )
        other.execute(READING if reads else "SELECT 1").fetchall()
        yield
    finally:
        other.close()


@pytest.fixture(autouse=True)
def _impatient():
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = 10")
    yield
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("RESET lock_timeout")


def files_are_cleared():
    try:
        call_command("privacy", "clear-files", "--yes")
    except CommandError:
        return False
    return True


@pytest.fixture
def _a_call():
    make_call(copilot=make_version().copilot)


@pytest.mark.usefixtures("_a_call")
def test_an_open_transaction_is_reported(capsys, monkeypatch):
    with open_transaction(reads=connection.vendor == "sqlite"), monkeypatch.context() as here:
        for module in (privacy.clock, erased_data.time):
            here.setattr(module, "sleep", lambda _: None)
        ComponentCall.objects.all().delete()
        with pytest.raises(CommandError, match="open transaction"):
            call_command("privacy", "clear-files", "--yes")
    assert capsys.readouterr().out == ""
    assert eventually(files_are_cleared)
    assert capsys.readouterr().out == "The database's files contain no deleted rows.\n"
