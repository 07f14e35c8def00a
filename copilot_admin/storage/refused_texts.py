"""SQLite refuses a text with a NUL in it, as PostgreSQL does.

Left to itself it keeps one, and shows the text as far as the NUL in some places and whole in others.
What comes from clients is cleaned before it is stored; this is for what people write in forms.
"""

from collections.abc import Callable, Iterable
from typing import Any

from django.db import DataError
from django.db.backends.signals import connection_created


def without_nul(
    execute: Callable[..., Any], sql: str, params: Any, many: bool, context: dict[str, Any]
) -> Any:
    """Runs a statement whose texts can be stored.

    Raises:
        DataError: One of them cannot; in the words of psycopg.
    """
    rows: Iterable[Any] = params if many else (params,)
    if many and not isinstance(params, list | tuple):
        rows = params = list(params)  # they can be looked through once
    for row in rows:
        refuse_nul(row or ())
    return execute(sql, params, many, context)


def refuse_nul(values: Iterable[Any]) -> None:
    """Lets values be stored that can be.

    Raises:
        DataError: One of them is a text that cannot; in the words of psycopg.
    """
    for value in values:
        if isinstance(value, str) and "\0" in value:
            raise DataError("text fields cannot contain NUL (0x00) bytes")


# Of a connection to SQLite to which nobody else listens.
NOBODY_ELSE = (without_nul,)


def _watch(*, connection: Any, **_: Any) -> None:
    if connection.vendor == "sqlite" and without_nul not in connection.execute_wrappers:
        connection.execute_wrappers.append(without_nul)


def watch_connections() -> None:
    """Lets each connection to SQLite refuse such texts."""
    connection_created.connect(_watch, dispatch_uid="refused texts")
