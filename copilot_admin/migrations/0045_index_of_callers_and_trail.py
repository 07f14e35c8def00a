"""The index of who asked, while runs go on; and what the triggers of the trail did not refuse."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

RUN, INDEX = 'copilot_admin_run', 'run_of_caller'
ENTRIES, HEAD = 'copilot_admin_auditentry', 'copilot_admin_audithead'
REFUSAL = 'Entries of the audit trail are neither changed nor deleted.'
FUNCTION = 'copilot_admin_audit_refuse'  # of 0039
# A replacing INSERT deletes what it replaces without the triggers of DELETE.
ADD_TO_SQLITE = tuple(
    f"CREATE TRIGGER IF NOT EXISTS {table}_replace BEFORE INSERT ON {table} "
    f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {key} = NEW.{key}) "
    f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    for table, key in ((ENTRIES, 'sequence'), (HEAD, 'id'))
)
ADD_TO_POSTGRESQL = (
    f'DROP TRIGGER IF EXISTS {HEAD}_whole ON {HEAD}',
    f'CREATE TRIGGER {HEAD}_whole BEFORE TRUNCATE ON {HEAD} FOR EACH STATEMENT EXECUTE FUNCTION {FUNCTION}()',
)
REMOVE_FROM_SQLITE = tuple(
    f'DROP TRIGGER IF EXISTS {table}_replace' for table in (ENTRIES, HEAD)
)
REMOVE_FROM_POSTGRESQL = (f'DROP TRIGGER IF EXISTS {HEAD}_whole ON {HEAD}',)
# Of a try that broke off; it would stand in the way, and serve no query.
IS_BROKEN = """
SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relname = %s AND c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid
"""


def add_index(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Makes the index, unless an earlier release of 0037 made it."""
    at_once = ''
    if schema_editor.connection.vendor == 'postgresql':
        at_once = 'CONCURRENTLY'
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(IS_BROKEN, [INDEX])
            if cursor.fetchone():
                schema_editor.execute(f'DROP INDEX CONCURRENTLY {INDEX}')
    schema_editor.execute(
        f'CREATE INDEX {at_once} IF NOT EXISTS "{INDEX}" ON "{RUN}" ("principal", "started_at") '
        "WHERE NOT (\"principal\" = 'anonymous')"
    )


def remove_index(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Takes it away: in the state of 0037 it stays named."""
    at_once = 'CONCURRENTLY' if schema_editor.connection.vendor == 'postgresql' else ''
    schema_editor.execute(f'DROP INDEX {at_once} IF EXISTS "{INDEX}"')


def add_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Has the database refuse what it let through."""
    is_sqlite = schema_editor.connection.vendor == 'sqlite'
    for statement in ADD_TO_SQLITE if is_sqlite else ADD_TO_POSTGRESQL:
        schema_editor.execute(statement)


def remove_triggers(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Takes them away."""
    is_sqlite = schema_editor.connection.vendor == 'sqlite'
    for statement in REMOVE_FROM_SQLITE if is_sqlite else REMOVE_FROM_POSTGRESQL:
        schema_editor.execute(statement)


class Migration(migrations.Migration):

    atomic = False  # PostgreSQL makes no index beside others' work within a transaction
    dependencies = [
        ('copilot_admin', '0044_late_thumbs'),
    ]

    operations = [
        migrations.RunPython(add_index, remove_index),
        migrations.RunPython(add_triggers, remove_triggers),
    ]
