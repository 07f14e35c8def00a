"""Each migration after the baseline leaves old code able to serve beside the new one."""

from django.db import migrations, models
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import ModelState, ProjectState
import pytest

from tests.models.expanding import BASELINE, faults

APP = "copilot_admin"


def names_after_baseline() -> list[str]:
    """The newer migrations, in their order."""
    graph = MigrationLoader(None).graph
    order = [name for app, name in graph.forwards_plan(graph.leaf_nodes(APP)[0]) if app == APP]
    return order[order.index(BASELINE) + 1 :]


@pytest.fixture(scope="module")
def loader() -> MigrationLoader:
    return MigrationLoader(None)


def test_old_code_can_live_with_every_migration_after_the_baseline(loader):
    found = {}
    for name in names_after_baseline():
        state = loader.project_state((APP, name), at_end=False)
        if said := faults(loader.get_migration(APP, name), state):
            found[name] = said
    assert found == {}, (
        "Give new columns null=True or a db_default. What nothing uses any more goes one release "
        'later, in a migration with `contract = "<release in which code stopped using it>"`.'
    )


def before() -> ProjectState:
    """A table of old code."""
    fields = [
        ("id", models.BigAutoField(primary_key=True)),
        ("name", models.CharField(max_length=20)),
        ("note", models.TextField(null=True)),
        ("state", models.CharField(max_length=9, db_default="new")),
    ]
    state = ProjectState()
    state.add_model(ModelState(APP, "Row", fields))
    state.add_model(ModelState(APP, "Run", list(fields)))
    return state


def said(*operations: object, **stated: str) -> list[str]:
    """What is said of a migration with these operations and attributes."""
    members = {"operations": operations, **stated}
    return faults(type("Made", (Migration,), members)("0099_made", APP), before())


INSERTS_FAIL = "adds row.more, which is neither null nor has a db_default: inserts of old code fail"
COLUMN = models.CharField(max_length=20)
REFUSED = [
    (migrations.DeleteModel("Row"), "deletes the table of Row"),
    (migrations.RenameModel("Row", "Line"), "renames Row"),
    (migrations.AlterModelTable("Row", "line"), "renames the table of Row"),
    (migrations.RemoveField("row", "note"), "removes row.note"),
    (migrations.RenameField("row", "note", "remark"), "renames row.note"),
    (migrations.AddField("row", "more", models.IntegerField(default=0)), INSERTS_FAIL),
    (
        migrations.AlterField("row", "note", models.TextField(default="")),
        "makes row.note not null without a db_default: old code leaves it out",
    ),
    (migrations.AlterField("row", "name", models.IntegerField()), "changes the type of row.name"),
    (
        migrations.AlterField("row", "name", models.CharField(max_length=19)),
        "makes row.name shorter",
    ),
    (
        migrations.AlterField("row", "state", models.CharField(max_length=9)),
        "takes the db_default of row.state away: old code leaves it out",
    ),
    (
        migrations.AlterField("row", "name", models.CharField(max_length=20, unique=True)),
        "makes row.name unique",
    ),
    (
        migrations.RunSQL("SELECT 1"),
        "runs SQL; say in `reason` why old code can live with it",
    ),
]


@pytest.mark.parametrize(("operation", "sentence"), REFUSED, ids=[words for _, words in REFUSED])
class TestWhatOldCodeCannotLiveWith:
    def test_it_is_refused(self, operation, sentence):
        assert said(operation) == [sentence]

    def test_it_may_be_in_a_migration_that_says_when_code_stopped_using_it(
        self, operation, sentence
    ):
        assert said(operation, contract="0.2") == []


BY_NAME = models.Index(fields=["name"], name="by_name")
HELD_UP = (
    "makes an index of run: {}, and no question is answered meanwhile: make it CONCURRENTLY, "
    "as 0045 does, and state it in `state_operations`"
)


@pytest.mark.parametrize(
    ("operation", "index"),
    [
        (migrations.AddIndex("run", BY_NAME), "by_name"),
        (
            migrations.AddConstraint(
                "run", models.UniqueConstraint(fields=["name"], name="name_once")
            ),
            "name_once",
        ),
        (
            migrations.AddField("run", "more", models.IntegerField(null=True, db_index=True)),
            "that of more",
        ),
        (
            migrations.AlterField("run", "note", models.TextField(null=True, db_index=True)),
            "that of note",
        ),
    ],
    ids=["index", "constraint", "indexed column", "column that gets one"],
)
def test_a_table_that_grows_with_questions_gets_no_index_that_holds_them_up(operation, index):
    assert said(operation) == [HELD_UP.format(index)]


def test_an_index_that_is_made_beside_questions_is_only_stated():
    made = migrations.SeparateDatabaseAndState(
        database_operations=[migrations.RunPython(migrations.RunPython.noop)],
        state_operations=[migrations.AddIndex("run", BY_NAME)],
    )
    assert said(made) == []


def test_it_is_found_where_state_and_database_are_changed_apart():
    removed = migrations.RemoveField("row", "note")
    apart = migrations.SeparateDatabaseAndState(database_operations=[removed])
    assert said(apart) == ["removes row.note"]
    kept = migrations.SeparateDatabaseAndState(state_operations=[removed])
    assert said(kept) == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.AddField("row", "more", models.IntegerField(null=True)),
        migrations.AddField("row", "more", models.IntegerField(default=0, db_default=0)),
        migrations.AddField("row", "more", models.ManyToManyField("Row")),
        migrations.AlterField("row", "name", models.CharField(max_length=21)),
        migrations.AlterField("row", "name", models.CharField(max_length=20, null=True)),
        migrations.AlterField("row", "note", models.TextField(db_default="")),
        migrations.AddIndex("row", models.Index(fields=["name"], name="row_name")),
        pytest.param(migrations.RunPython(migrations.RunPython.noop), id="RunPython"),
    ],
    ids=str,
)
def test_what_adds_is_let_through(operation):
    assert said(operation) == []


def test_sql_may_run_with_a_reason():
    assert said(migrations.RunSQL("SELECT 1"), reason="It reads.") == []


def test_a_table_of_the_same_migration_may_get_any_column():
    made = migrations.CreateModel("Line", [("id", models.BigAutoField(primary_key=True))])
    assert said(made, migrations.AddField("line", "name", COLUMN)) == []
