"""A trail that was edited, cut or made anew is known, and the first broken entry is named."""

from collections.abc import Callable
from io import StringIO
import json
from pathlib import Path
from typing import Any

from django.core.management import CommandError, call_command
from django.db import connection
import pytest

from copilot_admin.audit import chain
from copilot_admin.audit.chain import (
    Anchor,
    BrokenChain,
    ChainError,
    derive_key,
    signing_key,
    verify,
)
from copilot_admin.audit.forwarding import read_anchors
from copilot_admin.audit.recording import Actor, Subject, record
from copilot_admin.models.audit import Action, AuditEntry
from tests.fast_flush import without_triggers

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _own_anchors(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def trail(monkeypatch: pytest.MonkeyPatch) -> list[AuditEntry]:
    monkeypatch.setattr(chain, "BATCH_ENTRIES", 2)
    on = Subject("copilot", "1", "Macro")
    return [
        record(Action.CHANGED, by=Actor.server(), on=on, before={"n": n}, after={"n": n + 1})
        for n in range(6)
    ]


def run(statement: str, *values: object) -> None:
    """Change the database as its owner can."""
    with connection.cursor() as cursor, without_triggers(cursor):
        cursor.execute(statement, values)


def edit() -> None:
    run("UPDATE copilot_admin_auditentry SET actor_name = 'somebody else' WHERE sequence = 3")


def take_out() -> None:
    run("DELETE FROM copilot_admin_auditentry WHERE sequence IN (3, 4)")


def cut() -> None:
    run("DELETE FROM copilot_admin_auditentry WHERE sequence > 4")


def copy_to_the_end() -> None:
    last = AuditEntry.objects.get(sequence=6)
    last.sequence, last._state.adding = 7, True
    last.save()


def empty() -> None:
    run("DELETE FROM copilot_admin_auditentry")


@pytest.mark.parametrize(
    ("crime", "expected"),
    [
        (edit, BrokenChain(ChainError.EDITED, 3)),
        (take_out, BrokenChain(ChainError.MISSING, 3, 5)),
        (cut, BrokenChain(ChainError.TRUNCATED, 5)),
        (empty, BrokenChain(ChainError.TRUNCATED, 1)),
        (copy_to_the_end, BrokenChain(ChainError.BEYOND_HEAD, 7)),
    ],
)
def test_the_first_broken_entry_is_named(
    trail: list[AuditEntry], crime: Callable[[], None], expected: BrokenChain
) -> None:
    assert verify() == (Anchor(6, trail[-1].hash), None)
    crime()
    assert verify()[1] == expected
    with pytest.raises(CommandError, match="Entry") as refused:
        call_command("audit", "verify")
    assert (refused.value.returncode, str(refused.value)) == (1, str(expected))


def test_an_intact_trail_is_reported_with_its_newest_hash(trail: list[AuditEntry]) -> None:
    out = StringIO()
    call_command("audit", "verify", "--expect", trail[2].hash, stdout=out)
    assert "6 entries, 1 anchors" in out.getvalue()
    assert trail[-1].hash in out.getvalue()


def test_a_trail_that_was_cut_with_its_head_lacks_what_was_noted(
    trail: list[AuditEntry], tmp_path: Path
) -> None:
    noted = tmp_path / "noted.jsonl"
    noted.write_text(json.dumps({"sequence": 6, "hash": trail[5].hash}) + '\n{"sequence": 9, "h')
    call_command("audit", "verify", "--anchors", str(noted), stdout=StringIO())
    cut()
    with connection.cursor() as cursor, without_triggers(cursor):
        cursor.execute(
            "UPDATE copilot_admin_audithead SET sequence = 4, hash = %s", [trail[3].hash]
        )
    assert verify() == (Anchor(4, trail[3].hash), None)
    assert verify(list(read_anchors(noted)))[1] == BrokenChain(ChainError.TRUNCATED, 5)
    assert verify([Anchor(0, trail[5].hash)])[1] == BrokenChain(ChainError.WRONG_ANCHOR, 4)
    assert verify([Anchor(2, trail[5].hash)])[1] == BrokenChain(ChainError.WRONG_ANCHOR, 2)


def test_entries_of_an_earlier_key_are_right_as_long_as_it_is_known(
    trail: list[AuditEntry], settings: Any
) -> None:
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another secret key"
    record(Action.READ, by=Actor.server(), on=Subject("copilot"))
    assert verify()[1] == BrokenChain(ChainError.UNKNOWN_KEY, 1)
    settings.AUDIT_KEYS = (old,)
    assert verify()[1] is None
    assert signing_key() == derive_key(old)


@pytest.mark.parametrize("text", ["", "0 \n", "notes\n", '{"sequence": "x"}', "5 abc", None])
def test_a_file_without_anchors_is_refused(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "anchors"
    if text is not None:
        file.write_text(text)
    for path in (file, tmp_path):  # the second is a folder
        with pytest.raises(CommandError) as refused:
            call_command("audit", "verify", "--anchors", str(path))
        assert refused.value.returncode == 2  # 1 means that the trail is broken
    with pytest.raises(CommandError):
        call_command("audit", "verify", "--expect", "xyz")
