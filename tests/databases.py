"""Which database the tests run on."""

from django.db import connection
import pytest

IS_POSTGRESQL = connection.vendor == "postgresql"
on_postgresql = pytest.mark.skipif(not IS_POSTGRESQL, reason="SQLite has nothing of the kind")
