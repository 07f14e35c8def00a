"""Programs and servers that some tests need; `python -m tests.services postgres` looks for one."""

from functools import cache
import os
import shutil
import sys

import psycopg
import redis

DATABASE_URL = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")
REDIS_URL = os.environ.get("TEST_REDIS_URL", "redis://127.0.0.1:6379/15")
SECONDS = 30  # what is not there refuses at once; what is busy may take long to answer
# First the one without windows, which draws no tabs and buttons around each page.
CHROMIUM_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """The path of a Chromium on this machine."""
    return next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def nginx() -> str | None:
    """The path of nginx, which Debian keeps where not every user looks."""
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


def pgbouncer() -> str | None:
    """The path of PgBouncer, which Debian keeps there too."""
    return shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")


@cache
def missing(service: str) -> str:
    """Why tests with this marker cannot run here; empty when they can."""
    match service:
        case "browser":
            return (
                ""
                if chromium()
                else "Chromium is missing: install the package 'chromium-headless-shell' or 'chromium'"
            )
        case "curl":
            return "" if shutil.which("curl") else "curl is missing: install the package 'curl'"
        case "postgres":
            return _missing_postgres()
        case "redis":
            return _missing_redis()
        case "nginx":
            return "" if nginx() else "nginx is missing: install the package 'nginx'"
        case "pgbouncer":
            return "" if pgbouncer() else "PgBouncer is missing: install the package 'pgbouncer'"
        case _:
            raise AssertionError(f"no service is named {service}")


def _missing_postgres() -> str:
    try:
        psycopg.connect(DATABASE_URL, connect_timeout=SECONDS).close()
    except psycopg.Error:
        return "PostgreSQL does not answer: start it, or set TEST_DATABASE_URL"
    return ""


def _missing_redis() -> str:
    client = redis.Redis.from_url(REDIS_URL, socket_connect_timeout=SECONDS)
    try:
        client.ping()
    except redis.RedisError:
        return "Redis does not answer: start it, or set TEST_REDIS_URL"
    finally:
        client.close()
    return ""


if __name__ == "__main__":
    sys.exit(missing(sys.argv[1]) or 0)
