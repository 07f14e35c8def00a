"""Tables that are made more cheaply have the fields that Django would give them."""

from contextlib import closing
import os
from pathlib import Path
import sqlite3
import subprocess
import sys

from django.apps import apps
from django.db import connection
import pytest

from tests.databases import IS_POSTGRESQL
from tests.quick_migrating import quick_migrating

ROOT = Path(__file__).parent.parent
TABLES = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"


def test_a_field_is_made_again_as_django_makes_it():
    fields = [field.clone() for model in apps.get_models() for field in model._meta.local_fields]
    expected = [field.clone().deconstruct() for field in fields]
    with quick_migrating():
        found = [[field.clone().deconstruct() for field in fields] for _ in range(2)]
    assert found == [expected, expected]


@pytest.mark.nightly
@pytest.mark.django_db
@pytest.mark.skipif(IS_POSTGRESQL, reason="SQLite says of its tables what they were made with")
def test_tables_are_those_that_the_command_makes(tmp_path):
    data = tmp_path / "data"
    environment = {
        "PATH": os.environ["PATH"],
        "COPILOT_DATA_DIR": str(data),
        "SECRET_KEY": "only for this test",
        "COPILOT_ENCRYPTION_KEYS": os.environ["COPILOT_ENCRYPTION_KEYS"],
    }
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(command, cwd=ROOT, env=environment, check=True)
    with closing(sqlite3.connect(data / "copilot.sqlite3")) as made:
        expected = made.execute(TABLES).fetchall()
    with connection.cursor() as cursor:
        cursor.execute(TABLES)
        assert cursor.fetchall() == expected
