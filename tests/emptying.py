"""Empties the database after a test that has committed."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import connection, transaction

from copilot_admin.config.role_groups import CHANGE, GIVEN_ONCE
from copilot_admin.config.roles import ROLES
from copilot_admin.models import AuditEntry

GRANTED = Group.permissions.through
MADE_BY_MIGRATING = (ContentType, Permission, Group, GRANTED)


def empty() -> None:
    """Takes out what tests write, and leaves what every migration makes anew.

    Django truncates all tables and makes content types, permissions and roles again: 140 ms on
    PostgreSQL, more than most tests take. Here tables are emptied, of those with rows, in any order:
    foreign keys are checked when all is done.
    """
    with connection.cursor() as cursor:
        cursor.execute(_which_have_rows())
        written = [table for (table,) in cursor.fetchall()]
    if written:
        with transaction.atomic(), connection.cursor() as cursor, without_triggers(cursor):
            for table in written:
                name = connection.ops.quote_name(table)
                cursor.execute(f"DELETE FROM {name}")  # noqa: S608  # the name of a table
    if not roles_are_as_migrated():
        with connection.cursor() as cursor, without_triggers(cursor):
            call_command("flush", verbosity=0, interactive=False)  # a test has changed the roles


@cache
def _which_have_rows() -> str:
    """One query for all tables: most tests write to few of them."""
    models = apps.get_models(include_auto_created=True)
    tables = {
        model._meta.db_table
        for model in models
        if model not in MADE_BY_MIGRATING and not model._meta.proxy
    }
    return " UNION ALL ".join(
        f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {connection.ops.quote_name(table)})"  # noqa: S608
        for table in sorted(tables)
    )


def roles_are_as_migrated() -> bool:
    """Whether there are as many roles and rights of them as `migrate` makes."""
    granted = sum(len(_granted(role.permissions)) for role in ROLES.values())
    with connection.cursor() as cursor:
        cursor.execute(_how_many_roles())
        return bool(cursor.fetchone() == (len(ROLES), granted))


@cache
def _how_many_roles() -> str:
    roles, rights = (one._meta.db_table for one in (Group, GRANTED))
    return f"SELECT (SELECT COUNT(*) FROM {roles}), (SELECT COUNT(*) FROM {rights})"  # noqa: S608


def _granted(names: Collection[str]) -> set[str]:
    """What a role may do when it is new."""
    return {*names, *(GIVEN_ONCE if CHANGE in names else ())}


@contextmanager
def without_triggers(cursor: Any) -> Iterator[None]:
    """Entries of the audit trail are deleted by nobody but this."""
    if connection.vendor == "postgresql":
        cursor.execute("SET session_replication_role = replica")
        yield
        cursor.execute("SET session_replication_role = origin")
        return
    if not AuditEntry.objects.exists():  # then no trigger is asked, and the schema stays as it is
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
