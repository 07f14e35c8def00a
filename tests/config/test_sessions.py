"""Sessions of PostgreSQL have the required settings, whatever the defaults of the database."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.db import connection
import psycopg
import pytest

from copilot_admin.config.databases import COMMAND_OPTIONS, SERVER_OPTIONS
from tests import services
from tests.databases import on_postgresql

pytestmark = [pytest.mark.database, on_postgresql, pytest.mark.django_db(transaction=True)]


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


@pytest.mark.parametrize("options", [SERVER_OPTIONS, COMMAND_OPTIONS])
def test_dates_are_read_and_transactions_see_what_others_have_committed(database, options):
    """Each question was a fault of the server: psycopg cannot read dates of any other form."""
    with psycopg.connect(database, options=options) as session:
        now, isolation = session.execute(
            "SELECT now(), current_setting('transaction_isolation')"
        ).fetchone() or ("", "")
    assert (now.year > 2000, isolation) == (True, "read committed")
