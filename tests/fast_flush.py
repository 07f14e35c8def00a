"""Empties the database after a test that commits."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction

from copilot_admin.config.roles import ROLES
from copilot_admin.models import AuditEntry

MADE_BY_MIGRATE = (ContentType, Permission, Group, Group.permissions.through)


def flush() -> None:
    """Delete all rows except those that `migrate` makes."""
    try:
        _delete_rows()
    except IntegrityError:  # a thread of the server wrote a row after the tables were listed
        _delete_rows()
    if not _has_migrated_roles():
        with connection.cursor() as cursor, without_triggers(cursor):
            call_command("flush", verbosity=0, interactive=False)


def _delete_rows() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_non_empty_tables_sql())
        tables = [table for (table,) in cursor.fetchall()]
    if tables:
        # Foreign keys are checked at the end of the transaction, so the order doesn't matter.
        with transaction.atomic(), connection.cursor() as cursor, without_triggers(cursor):
            for table in tables:
                cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")  # noqa: S608


@cache
def _non_empty_tables_sql() -> str:
    """One query for all tables: most tests write to few of them."""
    tables = {
        model._meta.db_table
        for model in apps.get_models(include_auto_created=True)
        if model not in MADE_BY_MIGRATE and not model._meta.proxy
    }
    return " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {connection.ops.quote_name(table)})"  # noqa: S608
        for table in sorted(tables)
    )


def _has_migrated_roles() -> bool:
    granted = sum(len({*one.permissions, *one.initial_permissions}) for one in ROLES.values())
    found = (Group.objects.count(), Group.permissions.through.objects.count())
    return found == (len(ROLES), granted)


@contextmanager
def without_triggers(cursor: Any) -> Iterator[None]:
    """Switch off the triggers that forbid changes of the audit trail."""
    if connection.vendor == "postgresql":
        cursor.execute("SET session_replication_role = replica")
        yield
        cursor.execute("SET session_replication_role = origin")
        return
    if not AuditEntry.objects.exists():  # no trigger would fire
        yield
        return
    cursor.execute(
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE '%_audit%'"
    )
    triggers = cursor.fetchall()
    for name, _sql in triggers:
        cursor.execute(f"DROP TRIGGER {name}")
    yield
    for _name, sql in triggers:
        cursor.execute(sql)
