"""What was made of a conversation says of which, so that it goes with it; rows that are there are told."""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import OuterRef, Q, Subquery

CONVERSATION, INDEX = 'copilot_admin_conversation', 'conversation_of_origin'
# Of a try that broke off; it would stand in the way, and serve no query.
IS_BROKEN = """
SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relname = %s AND c.relnamespace = current_schema()::regnamespace AND NOT i.indisvalid
"""


def add_index(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Makes the index of conversations beside the questions that come."""
    at_once = ''
    if schema_editor.connection.vendor == 'postgresql':
        at_once = 'CONCURRENTLY'
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(IS_BROKEN, [INDEX])
            if cursor.fetchone():
                schema_editor.execute(f'DROP INDEX CONCURRENTLY {INDEX}')
    schema_editor.execute(
        f'CREATE INDEX {at_once} IF NOT EXISTS "{INDEX}" ON "{CONVERSATION}" ("origin") '
        'WHERE "origin" IS NOT NULL'
    )


def remove_index(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Takes it away."""
    at_once = 'CONCURRENTLY' if schema_editor.connection.vendor == 'postgresql' else ''
    schema_editor.execute(f'DROP INDEX {at_once} IF EXISTS "{INDEX}"')


def tell_origins(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Questions with a recorded answer, what replays answered to them, and the trials that asked them."""
    def rows_of(name: str) -> Any:
        return apps.get_model('copilot_admin', name)._default_manager

    recorded = rows_of('RecordedAnswer')
    of_question = recorded.filter(question=OuterRef('pk')).values('conversation')[:1]
    of_answer = recorded.filter(question=OuterRef('question')).values('conversation')[:1]
    rows_of('SavedQuestion').filter(origin=None).update(origin=Subquery(of_question))
    rows_of('ReplayAnswer').filter(origin=None).update(origin=Subquery(of_answer))
    trials = {
        **dict(rows_of('ReplayAnswer').filter(~Q(trace_id=''), origin__isnull=False)
               .values_list('trace_id', 'origin')),
        **dict(rows_of('SavedAnswer').filter(~Q(trace_id=''), question__origin__isnull=False)
               .values_list('trace_id', 'question__origin')),
    }  # fmt: skip
    for trace_id, origin in trials.items():
        rows = rows_of('Conversation').filter(trace_id=trace_id, origin=None)
        rows.filter(principal__startswith='playground:').update(origin=origin)


def keep_origins(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Their columns go, and they with them."""


class AddFieldOnce(migrations.AddField):
    """Adds a column unless it is there: of what is in no transaction, the beginning stays after a kill."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        """Adds it."""
        table = to_state.apps.get_model(app_label, self.model_name)._meta.db_table
        with schema_editor.connection.cursor() as cursor:
            there = schema_editor.connection.introspection.get_table_description(cursor, table)
        if self.name not in {column.name for column in there}:
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class AddIndexOnce(migrations.AddIndex):
    """Adds an index unless it is there."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        """Adds it."""
        table = to_state.apps.get_model(app_label, self.model_name)._meta.db_table
        with schema_editor.connection.cursor() as cursor:
            there = schema_editor.connection.introspection.get_constraints(cursor, table)
        if self.index.name not in there:
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class Migration(migrations.Migration):

    atomic = False  # PostgreSQL makes no index beside others' work within a transaction
    dependencies = [
        ('copilot_admin', '0049_share_of_queues'),
    ]

    operations = [
        AddFieldOnce('conversation', 'origin', models.BigIntegerField(null=True)),
        AddFieldOnce('savedquestion', 'origin', models.BigIntegerField(null=True)),
        AddFieldOnce('replayanswer', 'origin', models.BigIntegerField(null=True)),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddIndex(
                    'conversation',
                    models.Index(
                        fields=['origin'],
                        condition=Q(origin__isnull=False),
                        name='conversation_of_origin',
                    ),
                ),
            ],
            database_operations=[migrations.RunPython(add_index, remove_index)],
        ),
        AddIndexOnce(
            'savedquestion',
            models.Index(
                fields=['origin'],
                condition=Q(origin__isnull=False),
                name='saved_question_of_origin',
            ),
        ),
        AddIndexOnce(
            'replayanswer',
            models.Index(
                fields=['origin'],
                condition=Q(origin__isnull=False),
                name='replay_answer_of_origin',
            ),
        ),
        migrations.RunPython(tell_origins, keep_origins),
    ]
