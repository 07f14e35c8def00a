"""Temporary PostgreSQL databases."""

from collections.abc import Iterator
from contextlib import contextmanager
import os
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import psycopg

POSTGRES = "postgres://postgres@127.0.0.1:5432/postgres"


@contextmanager
def new_database(server: str = "") -> Iterator[str]:
    """Create a database on a server, by default that of TEST_DATABASE_URL, and yield its URL."""
    server = server or os.environ.get("TEST_DATABASE_URL", POSTGRES)
    name = f"copilot_admin_bench_{uuid4().hex[:8]}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
        try:
            yield urlunsplit(urlsplit(server)._replace(path=f"/{name}"))
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
