"""Whether PostgreSQL and its role let questions do what they need; SQLite has no roles."""

from functools import cache

from django.apps import apps
from django.db import connection

from copilot_admin.models import Blob, Conversation, Node, Run, Turn

# All that is here is read by something; without these rights no answer is stored.
_WRITTEN = {
    Conversation: ("INSERT", "UPDATE"),
    Node: ("INSERT", "UPDATE"),
    Turn: ("INSERT", "UPDATE"),
    Run: ("INSERT", "UPDATE"),
    Blob: ("INSERT",),
}
# Of a column at least: who grants some has thought about it.
_MISSING = """
    SELECT name, wanted FROM unnest(%s::text[], %s::text[]) AS needed (name, wanted)
    WHERE NOT COALESCE(has_any_column_privilege(to_regclass(quote_ident(name)), wanted), FALSE)
    LIMIT 1
"""


def fault_of_rights() -> str:
    """Which right on which table is missing, or which table; empty where nothing is.

    Raises:
        Error: Of the database.
    """
    if connection.vendor != "postgresql":
        return ""
    with connection.cursor() as cursor:
        cursor.execute(_MISSING, list(_needed()))
        row = cursor.fetchone()
    if row is None:
        return ""
    table, right = row
    return f"the role of the database has no right to {right} on {table}, or there is no such table"


def can_only_be_read() -> bool:
    """Whether PostgreSQL begins transactions that may not write, as a standby does.

    Raises:
        Error: Of the database.
    """
    if connection.vendor != "postgresql":
        return False
    with connection.cursor() as cursor:
        cursor.execute("SHOW transaction_read_only")
        return bool(cursor.fetchone() == ("on",))


@cache
def _needed() -> tuple[list[str], list[str]]:
    """Tables, and the right that each needs; a table that needs several stands there as often."""
    models = apps.get_models(include_auto_created=True)
    read = [(one._meta.db_table, "SELECT") for one in models if one._meta.managed]
    written = [(one._meta.db_table, right) for one, rights in _WRITTEN.items() for right in rights]
    tables, rights = zip(*read, *written, strict=True)
    return list(tables), list(rights)
