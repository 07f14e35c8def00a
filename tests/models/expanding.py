"""Which operations of a migration an older release cannot live with that serves beside the new one.

Old code goes on inserting rows without new columns, and reading columns that it knows. So a release
only adds; what nothing uses any more goes with a later one. And it goes on answering: an index or a
constraint of a table that grows with questions would hold up all of them while it is made.
"""

from collections.abc import Iterator, Sequence

from django.db.migrations import Migration, RunPython
from django.db.migrations.operations import (
    AddConstraint,
    AddField,
    AddIndex,
    AlterField,
    AlterModelTable,
    CreateModel,
    DeleteModel,
    RemoveField,
    RenameField,
    RenameModel,
    RunSQL,
    SeparateDatabaseAndState,
)
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models import NOT_PROVIDED, Field, ManyToManyField

BASELINE = "0035_transcript_exports"
CONTRACTING = {
    DeleteModel: "deletes the table of {0.name}",
    RenameModel: "renames {0.old_name}",
    AlterModelTable: "renames the table of {0.name}",
    RemoveField: "removes {0.model_name}.{0.name}",
    RenameField: "renames {0.model_name}.{0.old_name}",
}
# Tables with rows of each question: PostgreSQL reads all of them while it makes a plain index, and
# lets nobody write meanwhile.
GROWING = frozenset(
    {
        "blob", "blobpart", "callerday", "checkpoint", "componentcall", "conversation", "event",
        "feedback", "node", "run", "turn", "turntext",
    }
)  # fmt: skip
# Older than this rule; docs/operations.md says what they cost.
BEFORE_THE_RULE = frozenset(
    {"0036_users", "0042_erased_users", "0043_feedback_once", "0044_late_thumbs"}
)
HARMLESS_SQL = "reason"  # attribute of a migration: why its RunSQL does old code no harm
CONTRACT = "contract"  # attribute of a migration: the release whose code stopped using what goes


def faults(migration: Migration, state: ProjectState) -> list[str]:
    """What old code cannot live with, a sentence each; nothing where the migration says `contract`.

    Args:
        migration: The migration.
        state: The models before it; they are taken through its operations.
    """
    found = list(_faults(migration.operations, migration, state))
    return [] if getattr(migration, CONTRACT, "") else found


def _faults(
    operations: Sequence[Operation], migration: Migration, state: ProjectState
) -> Iterator[str]:
    created: set[str] = set()  # no old code knows them
    for operation in operations:
        if isinstance(operation, CreateModel):
            created.add(operation.name_lower)
        if isinstance(operation, SeparateDatabaseAndState):
            yield from _faults(operation.database_operations, migration, state.clone())
        elif getattr(operation, "model_name_lower", None) not in created:
            yield from _fault(operation, migration, state)
        operation.state_forwards(migration.app_label, state)


def _fault(operation: Operation, migration: Migration, state: ProjectState) -> Iterator[str]:
    match operation:
        case RunSQL() if not getattr(migration, HARMLESS_SQL, ""):
            yield f"runs SQL; say in `{HARMLESS_SQL}` why old code can live with it"
        case AddField() if _breaks_inserts(operation.field):
            yield (
                f"adds {operation.model_name}.{operation.name}, which is neither null nor has a "
                "db_default: inserts of old code fail"
            )
        case AlterField():
            model = state.models[migration.app_label, operation.model_name_lower]
            yield from _altered(model.fields[operation.name], operation)
        case AddIndex() | AddConstraint() if _holds_up(operation.model_name_lower, migration):
            made = operation.index if isinstance(operation, AddIndex) else operation.constraint
            yield _held_up(f"{operation.model_name}: {made.name}")
        case AddField() if _is_indexed(operation.field) and _holds_up(
            operation.model_name_lower, migration
        ):
            yield _held_up(f"{operation.model_name}: that of {operation.name}")
        case RunSQL() | RunPython():
            return
        case _:
            for kind, words in CONTRACTING.items():
                if isinstance(operation, kind):
                    yield words.format(operation)


def _holds_up(model: str, migration: Migration) -> bool:
    return model in GROWING and migration.name not in BEFORE_THE_RULE


def _held_up(index: str) -> str:
    return (
        f"makes an index of {index}, and no question is answered meanwhile: make it CONCURRENTLY, "
        "as 0045 does, and state it in `state_operations`"
    )


def _is_indexed(field: Field) -> bool:
    return bool(getattr(field, "db_index", False) or field.unique)


def _breaks_inserts(field: Field) -> bool:
    if isinstance(field, ManyToManyField):  # a table of its own
        return False
    return not field.null and field.db_default is NOT_PROVIDED and not field.generated


def _altered(before: Field, operation: AlterField) -> Iterator[str]:
    after, name = operation.field, f"{operation.model_name}.{operation.name}"
    if before.null and _breaks_inserts(after):
        yield f"makes {name} not null without a db_default: old code leaves it out"
    if before.get_internal_type() != after.get_internal_type():
        yield f"changes the type of {name}"
    longest = after.max_length
    if longest is not None and (before.max_length or longest + 1) > longest:
        yield f"makes {name} shorter"
    if before.db_default is not NOT_PROVIDED and _breaks_inserts(after):
        yield f"takes the db_default of {name} away: old code leaves it out"
    if not before.unique and after.unique:
        yield f"makes {name} unique"
    elif _is_indexed(after) and not _is_indexed(before) and operation.model_name_lower in GROWING:
        yield _held_up(f"{operation.model_name}: that of {operation.name}")
