"""A pool that had no connection for many has some again when PostgreSQL is there again."""

from typing import Any

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout, TooManyRequests
import pytest

from copilot_admin.config.databases import POOL_OPTIONS
from tests.polling import eventually
from tests.services import DATABASE_URL

pytestmark = pytest.mark.postgres
# The pool's own, but for what takes its time.
QUICK = {**POOL_OPTIONS, "min_size": 0, "max_waiting": 3, "timeout": 0.01, "reconnect_timeout": 0}


class Away(psycopg.Connection[Any]):
    """A connection to a server that may be away."""

    is_away = True
    attempts = 0

    @classmethod
    def connect(cls, *args: Any, **options: Any) -> Any:
        cls.attempts += 1
        if cls.is_away:
            raise psycopg.OperationalError("nobody listens")
        return super().connect(*args, **options)


def came_of(pool: ConnectionPool[Any]) -> type[Exception] | None:
    """The error that somebody gets who asks for a connection; None: he gets one."""
    try:
        with pool.connection() as connection:
            connection.execute("SELECT 1")
    except (PoolTimeout, TooManyRequests) as error:
        return type(error)
    return None


def test_timeouts_do_not_block_the_pool_after_the_server_is_back():
    with ConnectionPool(DATABASE_URL, connection_class=Away, open=True, **QUICK) as pool:
        assert eventually(lambda: came_of(pool) is TooManyRequests)
        before = Away.attempts
        assert eventually(lambda: Away.attempts > before + 5), "nobody connects any more"
        Away.is_away = False
        assert eventually(lambda: came_of(pool) is None)
