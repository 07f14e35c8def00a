"""The address of a Redis, read once at the start: what asks it later would break with each question."""

from urllib.parse import unquote

from copilot_admin.config.addresses import parts_of
from copilot_admin.config.env import BadSetting


def redis_address(setting: str, url: str) -> str:
    """The address; empty stays empty.

    Raises:
        BadSetting: The client can make no connection of it, or would take another database.
    """
    if url and not (_can_connect(url) and _names_database(url)):
        raise BadSetting(
            f"{setting} is not understood. Use redis://host:6379/0, rediss://… or unix:///path."
        )
    return url


def _can_connect(url: str) -> bool:
    """Whether the client makes a connection of it, which it does not open."""
    from redis.connection import ConnectionPool  # takes 0.2 s to load

    try:
        ConnectionPool.from_url(url).make_connection()
    except (ValueError, TypeError):  # of its parts, of an option that there is not
        return False
    return True


def _names_database(url: str) -> bool:
    """Whether the number of the database is one: the client takes 0 for any other word."""
    parts = parts_of(url)
    number = unquote(parts.path).strip("/")
    return parts.scheme == "unix" or not number or number.isdecimal()
