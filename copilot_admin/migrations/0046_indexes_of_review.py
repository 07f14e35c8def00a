"""Indexes of what the review room looks for: requests by how they ended, hours, reasons.

Requests that were completed or still go on are in none of them: it costs a question nothing.
"""

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

RUN, FEEDBACK, HOUR = (
    f'"copilot_admin_{table}"' for table in ('run', 'feedback', 'hourlyusage')
)
INDEXES = {
    'run_not_completed': f'{RUN} ("outcome", "started_at", "conversation_id") '
    "WHERE (NOT (\"outcome\" = 'completed') AND NOT (\"outcome\" = 'running'))",
    'hourly_usage_of_copilot': f'{HOUR} ("copilot_id", "hour")',
}
# SQLite has no index of what is in a list.
OF_POSTGRESQL = {'feedback_reasons': f'{FEEDBACK} USING gin ("tags" jsonb_path_ops)'}
# Of a try that broke off; it would stand in the way, and serve no query.
IS_BROKEN = """
SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relname = %s AND c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid
"""


def add_indexes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Makes them beside the questions that are asked meanwhile."""
    if schema_editor.connection.vendor != 'postgresql':
        for name, on in INDEXES.items():
            schema_editor.execute(f'CREATE INDEX IF NOT EXISTS "{name}" ON {on}')
        return
    for name, on in (INDEXES | OF_POSTGRESQL).items():
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(IS_BROKEN, [name])
            if cursor.fetchone():
                schema_editor.execute(f'DROP INDEX CONCURRENTLY "{name}"')
        schema_editor.execute(f'CREATE INDEX CONCURRENTLY IF NOT EXISTS "{name}" ON {on}')


def remove_indexes(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Takes them away."""
    at_once = 'CONCURRENTLY' if schema_editor.connection.vendor == 'postgresql' else ''
    for name in INDEXES | OF_POSTGRESQL:
        schema_editor.execute(f'DROP INDEX {at_once} IF EXISTS "{name}"')


class Migration(migrations.Migration):

    atomic = False  # PostgreSQL makes no index beside others' work within a transaction
    dependencies = [
        ('copilot_admin', '0045_index_of_callers_and_trail'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(add_indexes, remove_indexes)],
            state_operations=[
                migrations.AddIndex(
                    model_name='run',
                    index=models.Index(
                        fields=['outcome', 'started_at', 'conversation'],
                        condition=models.Q(
                            ~models.Q(outcome='completed'), ~models.Q(outcome='running')
                        ),
                        name='run_not_completed',
                    ),
                ),
                migrations.AddIndex(
                    model_name='hourlyusage',
                    index=models.Index(fields=['copilot', 'hour'], name='hourly_usage_of_copilot'),
                ),
            ],
        ),
    ]
