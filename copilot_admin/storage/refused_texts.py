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
        for value in row or ():
            if isinstance(value, str) and "\0" in value:
                raise DataError("text fields cannot contain NUL (0x00) bytes")
    return execute(sql, params, many, context)


def _watch(*, connection: Any, **_: Any) -> None:
    if connection.vendor == "sqlite" and without_nul not in connection.execute_wrappers:
        connection.execute_wrappers.append(without_nul)


def watch_connections() -> None:
    """Lets each connection to SQLite refuse such texts."""
    connection_created.connect(_watch, dispatch_uid="refused texts")
