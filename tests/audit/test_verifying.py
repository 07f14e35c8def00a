"""A trail that was edited, cut or made anew is known, and the first broken entry is named."""

from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from itertools import islice
import json
from pathlib import Path
from typing import Any

from django.core.management import CommandError, call_command
from django.core.serializers import serialize
from django.db import IntegrityError, connection, transaction
import pytest

from copilot_admin.audit import following
from copilot_admin.audit.actor import Actor
from copilot_admin.audit.anchors import kept_anchors
from copilot_admin.audit.chain import hash_of
from copilot_admin.audit.keys import audit_key, signing_key
from copilot_admin.audit.recording import record
from copilot_admin.audit.subject import Subject
from copilot_admin.audit.verifying import Anchor, BrokenChain, Fault, check, first_break
from copilot_admin.models.audit import Action, AuditEntry
from tests.emptying import without_triggers

pytestmark = [pytest.mark.database, pytest.mark.django_db]


@pytest.fixture(autouse=True)
def _own_anchors(tmp_path: Path, settings: Any) -> None:
    settings.DATA_DIR = tmp_path


@pytest.fixture
def trail(monkeypatch: pytest.MonkeyPatch) -> list[AuditEntry]:
    monkeypatch.setattr(following, "BATCH", 2)
    on = Subject("copilot", "1", "Macro")
    return [
        record(Action.CHANGED, by=Actor.server(), on=on, before={"n": n}, after={"n": n + 1})
        for n in range(6)
    ]


def run(statement: str, *values: object) -> None:
    """What somebody does who owns the database."""
    with connection.cursor() as cursor, without_triggers(cursor):
        cursor.execute(statement, values)


def renumber(sequence: int, new: int) -> None:
    run("UPDATE copilot_admin_auditentry SET sequence = %s WHERE sequence = %s", new, sequence)


def edit() -> None:
    run("UPDATE copilot_admin_auditentry SET actor_name = 'somebody else' WHERE sequence = 3")


def take_out() -> None:
    run("DELETE FROM copilot_admin_auditentry WHERE sequence IN (3, 4)")


def cut() -> None:
    run("DELETE FROM copilot_admin_auditentry WHERE sequence > 4")


def take_out_and_renumber() -> None:
    run("DELETE FROM copilot_admin_auditentry WHERE sequence = 3")
    for sequence in (4, 5, 6):
        renumber(sequence, sequence - 1)


def move_the_time() -> None:
    run("UPDATE copilot_admin_auditentry SET at = '2020-01-01 00:00:00+00:00' WHERE sequence = 1")


def copy_to_the_end() -> None:
    last = AuditEntry.objects.get(sequence=6)
    last.sequence, last._state.adding = 7, True
    last.save()


def swap() -> None:
    """Each tells now what the other did, under its own number and links."""
    one, other = (AuditEntry.objects.get(sequence=sequence) for sequence in (2, 5))
    for entry, sequence in ((other, 2), (one, 5)):
        told = "UPDATE copilot_admin_auditentry SET before = %s, after = %s WHERE sequence = %s"
        run(told, entry.before, entry.after, sequence)


def swap_whole() -> None:
    """Two rows change their places with their hashes."""
    for sequence, new in ((2, 99), (5, 2), (99, 5)):
        renumber(sequence, new)


def put_in() -> None:
    """An entry more, and those after it moved on: the head names one more as well."""
    for sequence in (6, 5, 4):
        renumber(sequence, sequence + 1)
    forged = AuditEntry.objects.get(sequence=3)
    forged.sequence, forged.previous, forged._state.adding = 4, forged.hash, True
    forged.save()
    run("UPDATE copilot_admin_audithead SET sequence = 7")


def cut_and_move_the_head_back() -> None:
    """Without the hash of the entry that is last now."""
    cut()
    run("UPDATE copilot_admin_audithead SET sequence = 4")


def empty() -> None:
    run("DELETE FROM copilot_admin_auditentry")


@pytest.mark.by_day(4)
@pytest.mark.parametrize(
    ("crime", "expected"),
    [
        (edit, BrokenChain(Fault.EDITED, 3)),
        (take_out, BrokenChain(Fault.MISSING, 3, 5)),
        (take_out_and_renumber, BrokenChain(Fault.EDITED, 3)),
        (cut, BrokenChain(Fault.CUT, 5)),
        (swap, BrokenChain(Fault.EDITED, 2)),
        (swap_whole, BrokenChain(Fault.EDITED, 2)),
        (put_in, BrokenChain(Fault.EDITED, 4)),
        (cut_and_move_the_head_back, BrokenChain(Fault.EDITED, 4)),
        (empty, BrokenChain(Fault.CUT, 1)),
        (move_the_time, BrokenChain(Fault.EDITED, 1)),
        (copy_to_the_end, BrokenChain(Fault.BEYOND_HEAD, 7)),
    ],
)
def test_the_first_broken_entry_is_named(
    trail: list[AuditEntry], crime: Callable[[], None], expected: BrokenChain
) -> None:
    assert check() == (Anchor(6, trail[-1].hash), None)
    crime()
    assert check()[1] == expected
    with pytest.raises(CommandError, match="Entry") as refused:
        call_command("audit", "verify")
    assert (refused.value.returncode, str(refused.value)) == (1, expected.sentence)


def put_in_before_the_first(number: int) -> Callable[[], None]:
    def crime() -> None:
        forged = AuditEntry.objects.get(sequence=1)
        forged.sequence, forged._state.adding = number, True
        forged.save()

    return crime


@pytest.mark.parametrize("number", [0, -1, -(2**63)])
def test_an_entry_with_a_number_before_the_first_was_put_in(
    trail: list[AuditEntry], number: int
) -> None:
    put_in_before_the_first(number)()
    assert check()[1] == BrokenChain(Fault.EDITED, number)


def test_a_time_that_no_calendar_has_was_put_in(trail: list[AuditEntry]) -> None:
    forever = "infinity" if connection.vendor == "postgresql" else "2026-13-45 00:00:00"
    run("UPDATE copilot_admin_auditentry SET at = %s WHERE sequence = 4", forever)
    assert check()[1] == BrokenChain(Fault.EDITED, 4)
    lines = StringIO()
    with pytest.raises(CommandError, match="1 entries cannot be read, the first of them is 4"):
        call_command("audit", "export", stdout=lines)
    told = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [one["sequence"] for one in told] == [1, 2, 3, 4, 5, 6, 7]
    assert told[3] == {"sequence": 4, "action": "unreadable"}


@pytest.mark.by_day(5)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="other databases keep types")
@pytest.mark.parametrize("column", ["at", "actor_id", "actor_name", "before", "previous", "hash"])
@pytest.mark.parametrize("value", ["'é'", "x'ff00'", "CAST(x'ff' AS TEXT)", "7", "1e999"])
def test_an_entry_with_values_that_no_column_has_is_named(
    trail: list[AuditEntry], column: str, value: str
) -> None:
    run(f"UPDATE copilot_admin_auditentry SET {column} = {value} WHERE sequence = 4")  # noqa: S608
    assert check()[1] == BrokenChain(Fault.EDITED, 4)
    with pytest.raises(CommandError, match="Entry 4 was edited"):
        call_command("audit", "verify")


@pytest.mark.skipif(connection.vendor != "sqlite", reason="other databases keep types")
@pytest.mark.parametrize("number", ["zero", 3.5])
def test_a_number_that_is_none_is_named(trail: list[AuditEntry], number: object) -> None:
    run("UPDATE copilot_admin_auditentry SET sequence = %s WHERE sequence = 6", number)
    expected = (
        BrokenChain(Fault.EDITED, 3.5) if number == 3.5 else BrokenChain(Fault.EDITED, "zero")
    )  # type: ignore[arg-type]  # what a column of SQLite may hold
    assert check()[1] == expected


@pytest.mark.parametrize(
    ("sequence", "expected"), [(3, None), (7, BrokenChain(Fault.BEYOND_HEAD, 7))]
)
def test_a_file_of_rows_changes_no_entry_and_what_it_adds_is_found(
    trail: list[AuditEntry], tmp_path: Path, sequence: int, expected: BrokenChain | None
) -> None:
    """`loaddata` asks no model."""
    [row] = json.loads(serialize("json", [trail[2]]))
    row["pk"], row["fields"]["actor_name"] = sequence, "somebody else"
    file = tmp_path / "rows.json"
    file.write_text(json.dumps([row]))
    with suppress(IntegrityError), transaction.atomic():
        call_command("loaddata", str(file), verbosity=0)
    assert AuditEntry.objects.get(sequence=3).actor_name == trail[2].actor_name
    assert check()[1] == expected


def test_a_trail_that_is_whole_says_so_with_its_newest_hash(trail: list[AuditEntry]) -> None:
    said = StringIO()
    call_command("audit", "verify", "--expect", trail[2].hash, stdout=said)
    expected = (
        f"The audit trail is whole: 6 entries. 1 anchors are in it.\nNewest: {trail[-1].hash}\n"
    )
    assert said.getvalue() == expected


def test_a_trail_without_entries_is_whole() -> None:
    said = StringIO()
    call_command("audit", "verify", stdout=said)
    call_command("audit", "head", stdout=said)
    assert said.getvalue() == "The audit trail is whole: 0 entries.\n0 \n"


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
    assert check() == (Anchor(4, trail[3].hash), None)
    assert check(list(kept_anchors(noted)))[1] == BrokenChain(Fault.CUT, 5)
    assert check([Anchor(0, trail[5].hash)])[1] == BrokenChain(Fault.NO_ANCHOR, 4)
    assert check([Anchor(2, trail[5].hash)])[1] == BrokenChain(Fault.NO_ANCHOR, 2)


def test_a_head_that_names_another_hash_is_no_head_of_the_trail(trail: list[AuditEntry]) -> None:
    run("UPDATE copilot_admin_audithead SET hash = 'x'")
    assert check()[1] == BrokenChain(Fault.EDITED, 6)


def test_entries_of_two_chains_do_not_follow_each_other(trail: list[AuditEntry]) -> None:
    key = signing_key()
    trail[3].previous = trail[0].hash
    trail[3].hash = hash_of(trail[3], key)
    head = Anchor(6, trail[5].hash)
    found = first_break(trail, head=head, keys={key.id: key})
    assert found == BrokenChain(Fault.UNLINKED, 4)


def test_entries_of_an_earlier_key_are_right_as_long_as_it_is_known(
    trail: list[AuditEntry], settings: Any
) -> None:
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another secret key"
    record(Action.READ, by=Actor.server(), on=Subject("copilot"))
    assert check()[1] == BrokenChain(Fault.UNKNOWN_KEY, 1)
    settings.AUDIT_KEYS = (old,)
    assert check()[1] is None
    assert signing_key() == audit_key(old)


def test_a_file_without_anchors_is_refused_and_so_is_what_is_no_hash(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="There is no file"):
        call_command("audit", "verify", "--anchors", str(tmp_path / "none"))
    with pytest.raises(CommandError, match="is no hash"):
        call_command("audit", "verify", "--expect", "xyz")


@pytest.mark.parametrize(
    "text", ["", "0 \n", "notes\n", '{"sequence": Infinity, "hash": ""}', "5 abc"]
)
def test_a_file_in_which_no_anchor_is_found_is_refused(
    trail: list[AuditEntry], tmp_path: Path, text: str
) -> None:
    noted = tmp_path / "noted"
    noted.write_text(text)
    with pytest.raises(CommandError, match="holds no anchor"):
        call_command("audit", "verify", "--anchors", str(noted))
    with pytest.raises(CommandError, match="cannot be read: Is a directory"):
        call_command("audit", "verify", "--anchors", str(tmp_path))


@pytest.mark.django_db
def test_anchors_of_the_server_that_cannot_be_read_are_a_line(tmp_path: Path, settings) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "audit-anchors.jsonl").mkdir()
    with pytest.raises(CommandError, match="cannot be read: Is a directory") as refused:
        call_command("audit", "verify")
    assert refused.value.returncode == 2  # 1 says that the trail is broken


def test_lines_of_the_head_are_anchors(trail: list[AuditEntry], tmp_path: Path) -> None:
    head = StringIO()
    call_command("audit", "head", stdout=head)
    noted = tmp_path / "noted"
    noted.write_text(f"0 \n{head.getvalue()}")
    said = StringIO()
    call_command("audit", "verify", "--anchors", str(noted), stdout=said)
    assert "6 entries. 1 anchors are in it." in said.getvalue()
    noted.write_text(f"6 {'0' * 64}\n")
    with pytest.raises(CommandError, match="Entry 6 is not the one that an anchor names"):
        call_command("audit", "verify", "--anchors", str(noted))


def test_batches_go_to_the_end(trail: list[AuditEntry]) -> None:
    assert [one.sequence for one in following.entries_after(2)] == [3, 4, 5, 6]
    assert [one.sequence for one in islice(following.entries_after(0, up_to=3), 9)] == [1, 2, 3]
