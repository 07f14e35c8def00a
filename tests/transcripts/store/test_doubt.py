"""A row that is refused says nothing of the others; tables that refuse them all are told."""

import asyncio
from collections.abc import Iterator
import re
from typing import Any

from django.apps import apps
from django.db import IntegrityError, OperationalError, connection
import pytest

from copilot_admin.errors import Unavailable
from copilot_admin.models import Conversation, Node, Run
from copilot_admin.storage import writer
from copilot_admin.storage.spool import SPOOL
from copilot_admin.storage.writer import WRITER
from copilot_admin.transcripts.store import JOURNAL, replay_spool
from copilot_admin.transcripts.store.doubt import REFUSED, Doubt
from copilot_admin.transcripts.store.probing import try_statements
from copilot_admin.transcripts.store.sealing import seal, to_json
from protocol.events import MessageChunk
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import START, Client, record_of

pytestmark = [pytest.mark.database, pytest.mark.django_db(transaction=True)]
TABLE, COLUMN = Run._meta.db_table, "generation"


def execute(*statements: str) -> None:
    """Changes tables, which nobody else has open; their threads look at them anew."""
    assert WRITER.stop(timeout=HANGS_SECONDS)
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


# How somebody damages tables by hand, or another release has them, and how that is mended.
DAMAGES = {
    "a column is missing": (
        [f"ALTER TABLE {TABLE} RENAME COLUMN {COLUMN} TO gone"],
        [f"ALTER TABLE {TABLE} RENAME COLUMN gone TO {COLUMN}"],
    ),
    "a column of messages is missing": (
        [f"ALTER TABLE {Node._meta.db_table} RENAME COLUMN depth TO gone"],
        [f"ALTER TABLE {Node._meta.db_table} RENAME COLUMN gone TO depth"],
    ),
}
if connection.vendor == "postgresql":
    DAMAGES["a column has to have what nobody knows"] = (
        [
            f"ALTER TABLE {TABLE} ADD COLUMN more int DEFAULT 1 NOT NULL",
            f"ALTER TABLE {TABLE} ALTER COLUMN more DROP DEFAULT",
        ],
        [f"ALTER TABLE {TABLE} DROP COLUMN more"],
    )
else:
    DAMAGES["a rule that nobody knows is broken"] = (
        [
            f"CREATE TRIGGER refusing BEFORE INSERT ON {TABLE} "
            "BEGIN SELECT RAISE(ABORT, 'not here'); END"
        ],
        ["DROP TRIGGER refusing"],
    )


@pytest.fixture(params=DAMAGES)
def damage(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Damages the tables; what it gives mends them."""
    monkeypatch.setattr(writer, "RETRY_PAUSES_SECONDS", (0.0,))
    hurt, heal = DAMAGES[request.param]
    execute(*hurt)
    is_hurt = True

    def mend() -> None:
        nonlocal is_hurt
        is_hurt = False
        execute(*heal)

    yield mend
    if is_hurt:
        mend()
    asyncio.run(JOURNAL.look_after())
    assert JOURNAL.problem == ""


def rows() -> dict[str, int]:
    models = apps.get_app_config("copilot_admin").get_models()
    return {model.__name__: model._default_manager.count() for model in models}


def test_tables_that_refuse_all_questions_are_told_until_they_are_mended(damage, caplog):
    for _ in range(2):
        with pytest.raises(Unavailable):
            asyncio.run(JOURNAL.accept(Client().opening("Hi")))
        asyncio.run(JOURNAL.look_after())
        assert JOURNAL.problem == REFUSED
    assert caplog.text.count("what is written is refused: ") == 1
    damage()
    asyncio.run(JOURNAL.look_after())
    assert JOURNAL.problem == ""
    asyncio.run(JOURNAL.accept(Client().opening("Hi")))
    assert Run.objects.count() == 1


def test_one_row_that_is_refused_is_no_problem(monkeypatch):
    run = WRITER.run

    async def refused(job: Any) -> None:
        raise IntegrityError("a bug")

    with monkeypatch.context() as patch:
        patch.setattr(WRITER, "run", refused)
        for _ in range(9):
            with pytest.raises(Unavailable):
                asyncio.run(JOURNAL.accept(Client().opening("Hi")))
            assert JOURNAL.problem == ""
    assert WRITER.run == run
    asyncio.run(JOURNAL.look_after())
    assert JOURNAL.problem == ""


def test_what_is_tried_leaves_nothing_behind():
    Client().ask("Hi").answer("Hello")
    before = rows()
    WRITER.submit(try_statements).result(HANGS_SECONDS)
    assert rows() == before


def test_what_is_tried_reaches_the_tables_of_questions_and_answers():
    written = set()

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if found := re.match(r'\s*INSERT (?:OR IGNORE )?INTO "?copilot_admin_(\w+)', sql):
            written.add(found[1])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(note):
        try_statements()
    assert written == {
        *("blob", "conversation", "enduser", "event", "node", "run", "turn", "turntext"),
    }


def test_a_database_that_is_away_when_it_is_tried_leaves_the_doubt(monkeypatch):
    def away() -> None:
        raise OperationalError("the connection is closed")

    doubt = Doubt()
    doubt.note(IntegrityError("a bug"))
    with monkeypatch.context() as patch:
        patch.setattr("copilot_admin.transcripts.store.doubt.try_statements", away)
        with pytest.raises(OperationalError):
            doubt.settle()
    assert (doubt.is_there, doubt.is_confirmed) == (True, False)
    doubt.settle()
    assert (doubt.is_there, doubt.is_confirmed) == (False, False)


def test_answers_in_the_spool_stay_there_while_the_database_refuses_them_all():
    asked = Client().ask("Hi")
    sealed = seal(record_of(MessageChunk("Hello")), run_id=asked.run_id, at=START)
    SPOOL.put(asked.run_id, to_json(sealed))
    table = Conversation._meta.db_table
    constraint = f"ALTER TABLE {table} ADD CONSTRAINT odd CHECK (last_outcome = 'running')"
    if connection.vendor == "sqlite":
        constraint = f"CREATE TRIGGER odd BEFORE UPDATE ON {table} BEGIN SELECT RAISE(ABORT, 'not here'); END"
    execute(constraint)
    set_aside = SPOOL.count_rejected()  # by other tests
    try:
        with pytest.raises(IntegrityError):
            WRITER.submit(replay_spool).result(HANGS_SECONDS)
        assert (SPOOL.size()[0], SPOOL.count_rejected()) == (1, set_aside)
    finally:
        execute(
            "DROP TRIGGER odd"
            if connection.vendor == "sqlite"
            else f"ALTER TABLE {table} DROP CONSTRAINT odd"
        )
    assert WRITER.submit(replay_spool).result(HANGS_SECONDS) == 1
    assert asked.run.output_node.text == "Hello"
