"""Erased text is in no file: canaries are written into every column and searched for."""

from contextlib import suppress
from pathlib import Path
from random import Random
import zlib

from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone
import pytest

from copilot_admin import models
from copilot_admin.admin.copilots.archive import duplicate
from copilot_admin.copilots.end_users import AskingUser
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.jobs.removal import begin_erasure, remove, resume_removals
from copilot_admin.jobs.tasks import BACKGROUND
from copilot_admin.privacy.scopes import PrivacyScope
from copilot_admin.storage.spool import SPOOL
from copilot_admin.transcripts.end_users import find_user
from copilot_admin.transcripts.store.recorder import Piece
from copilot_admin.transcripts.store.rollups import note_seen
from copilot_admin.transcripts.store.transcript_store import end_to_json, save_checkpoints
from protocol.events import ArtifactType, MessageArtifact
from tests.factories import make_call, make_case, make_key, make_result, make_user, make_version
from tests.polling import HANGS_SECONDS
from tests.transcripts.store.journaling import Client, ai, end_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.database]
GONE, STAYS = "qxjzkvwpqyhx", "zvqkxwyjpzqf"
# What of a question is looked for in the index. No letter is in both, nor in any other text here: FTS5
# keeps trigrams, of which it leaves out the beginnings that neighbours share. Each has three bytes: two
# Latin letters are as many as the number of a turn and a length, which look like "qx" now and then.
INDEXED = {GONE: "鱼藻竹岩沟", STAYS: "雪松鹤窗烟"}
PADDING = " ".join(f"row {number} of a table" for number in range(400))


def write_everywhere(word, *, principal, version, user=None):
    """A conversation with a word wherever a text can be."""
    client = Client(version=version, principal=principal, trace_id=f"trace {word}", user=user)
    question = f"Question {word} {INDEXED.get(word, '')}"
    table = MessageArtifact(
        type=ArtifactType.TABLE, uuid="u", artifact_name=word, description=word,
        content=[{"day": f"{word} {PADDING} {word}"}],
    )  # fmt: skip
    asked = client.ask(question, workspace_state={"note": f"{word} {PADDING}"})
    save_checkpoints({asked.run_id: Piece(0, f"Streamed {word}")})
    asked.answer(f"Answer {word}", table)
    again = client.ask(question, ai(f"Answer {word}"), f"More {word} {PADDING}")
    again.answer(f"Second {word}")
    turn = models.Turn.objects.filter(conversation=asked.conversation).earliest("pk")
    models.Feedback.objects.create(
        turn=turn, source="end_user", value=-1, comment=word, tags=[f"tag {word}"]
    )
    note_seen(models.SeenKind.REASON, [f"tag {word}"])
    author = make_user()
    models.Verdict.objects.create(
        conversation=asked.conversation, author=author, rating="bad", comment=word
    )
    models.TurnNote.objects.create(turn=turn, author=author, text=word)
    case = make_case(
        version.copilot, f"Saved {word}", test_data={"note": word}, source_turn=turn.pk,
        origin=asked.conversation.pk, recorded_answer=word,
    )  # fmt: skip
    make_result(case, answer=word, error=word, outcomes=[{"reason": word}])
    forgotten_question(make_version().copilot, word, origin=asked.conversation.pk)
    trial(version, word, origin=asked.conversation.pk)
    SPOOL.put(again.run_id, end_to_json(end_of(again.run_id, word)))
    SPOOL.reject(Path(settings.DATA_DIR) / "spool" / f"{again.run_id}.json")
    return asked.conversation


def forgotten_question(copilot, word, *, origin):
    """A test case that was run, copied to another copilot, and then deleted."""
    case = make_case(copilot, f"Asked {word}", origin=origin)
    copy = duplicate(copilot)
    make_result(case, answer=word)
    case.delete()
    assert copy.test_cases.filter(origin=origin, question=f"Asked {word}").exists()


def trial(version, word, *, origin):
    """What a builder asked again in the playground."""
    builder = Client(
        version=version, principal="playground:1", trace_id=f"again {word}", origin=origin
    )
    builder.ask(f"Question {word}").answer(f"Tried {word}")


def export_of(conversation, word):
    made = models.TranscriptExport.objects.create(
        owner=make_user(), format="csv", query=f"q={word}", words=word, state="done",
        bottom=conversation.pk, top=conversation.pk, moved_at=timezone.now(),
        expires_at=timezone.now() + timezone.timedelta(days=7),
    )  # fmt: skip
    models.ExportPart.objects.create(export=made, ord=0, data=word.encode())


def files_with(word):
    """The files of the database and of the data directory in which a word is, plain or packed."""
    return {name for name, data in files() if is_in(data, word)}


def words_found(words):
    """Those of some words that are in any file, plain or packed."""
    found = set()
    for _, data in files():
        for text in (data, *unpacked(data)):
            found |= {word for word in words if word.encode() in text}
    return found


def files():
    """The names and contents of the files of the database and of the data directory."""
    here = Path(settings.DATA_DIR)
    found = [path for path in here.rglob("*") if path.is_file()]
    if connection.vendor == "sqlite":
        database = Path(connection.settings_dict["NAME"])
        found += [path for path in database.parent.glob(f"{database.name}*") if path not in found]
    else:
        yield from pages()
    yield from ((path.name, path.read_bytes()) for path in found)


def pages():
    """The files of PostgreSQL's tables and indexes."""
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")
        cursor.execute(
            "SELECT relname, pg_read_binary_file(pg_relation_filepath(c.oid)) FROM pg_class c "
            "WHERE relname LIKE '%%copilot_admin%%' AND relkind IN ('r', 'i', 't') "
            "OR relnamespace = 'pg_toast'::regnamespace AND relkind IN ('r', 't')"
        )
        return [(name, bytes(data)) for name, data in cursor.fetchall()]


def is_in(data, word):
    plain = word.encode()
    if plain in data:
        return True
    return any(plain in text for text in unpacked(data))


def unpacked(data):
    """All that was packed with zlib, wherever in a file it begins."""
    for start in (b"\x78\x01", b"\x78\x5e", b"\x78\x9c"):
        place = data.find(start)
        while place >= 0:
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(data[place : place + 65536])
            place = data.find(start, place + 1)


def pairs_in_index(word):
    """The pairs of letters beside a word that SQLite's search index still has."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT block FROM copilot_admin_turntext_trigrams_data")
        blocks = [bytes(block) for (block,) in cursor.fetchall()]
    letters = INDEXED[word]
    pairs = {letters[start : start + 2] for start in range(len(letters) - 1)}
    return {pair for pair in pairs if any(pair.encode() in block for block in blocks)}


def erase(scope):
    """Has something erased as a server does it, and waits for the end."""
    background_tasks.start()
    with transaction.atomic():
        removal = begin_erasure(scope)
    remove.enqueue(removal.pk)
    while True:
        assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
        removal.refresh_from_db()
        if removal.state == models.RemovalState.DONE:
            return removal
        models.Removal.objects.update(moved_at=None)
        resume_removals()


@pytest.mark.nightly  # by day one of a user is
def test_an_erased_caller_is_in_no_file_and_another_in_all():
    version = make_version()
    key, _ = make_key()
    principal = f"key:{key.pk}"
    theirs = write_everywhere(GONE, principal=principal, version=version)
    export_of(theirs, GONE)
    make_call(key=key, copilot=version.copilot, arguments={"expression": GONE}, error=GONE)
    others = write_everywhere(STAYS, principal="anonymous", version=version)
    assert files_with(GONE) or connection.vendor == "postgresql"
    removal = erase(PrivacyScope(principal=principal))
    if connection.vendor == "postgresql":
        call_command("privacy", "clear-files", yes=True)
    assert files_with(GONE) == set()
    assert files_with(STAYS)
    if connection.vendor == "sqlite":
        assert pairs_in_index(GONE) == set()
        assert pairs_in_index(STAYS)
    assert {"Conversation", "Node", "Run", "Event", "Blob", "Feedback", "Verdict", "TurnNote",
            "TurnText", "TestCase", "EvaluationResult",
            "ExportPart", "ComponentCall", "CallerDay"} <= removal.counts.keys()  # fmt: skip
    assert models.Conversation.objects.of_callers().get() == others
    left = models.TestCase.objects.order_by("pk").values_list("question", flat=True)
    assert list(left) == [f"Saved {STAYS}", f"Asked {STAYS}"]
    assert list(models.SeenValue.objects.filter(kind="reason").values_list("value", flat=True)) == [
        f"tag {STAYS}"
    ]


def reject_requests(user_id):
    now = timezone.now()
    models.LimitRejection.objects.create(
        minute=now, last_at=now, scope="user", subject=user_id, kind="concurrent", number=1
    )


@pytest.mark.parametrize("people", [8, pytest.param(20, marks=pytest.mark.nightly)])
def test_an_erased_user_is_in_no_file_and_all_others_are_in_all(people):
    version, (key, _) = make_version(), make_key()
    letters = Random(7)  # words, not secrets
    words = ["".join(letters.choices("bcdfghjkmpqvwxz", k=12)) for _ in range(people)]
    for word in words:
        user = AskingUser(id=f"id-{word}", email=f"{word}@b.example", name=f"Name {word}")
        talk = write_everywhere(word, principal=f"key:{key.pk}", version=version, user=user)
        make_call(key=key, user=talk.user, arguments={"expression": word})
        models.SubjectLimits.objects.create(scope="user", subject=user.id, limits={})
        reject_requests(user.id)
    gone = words.pop(7)
    removal = erase(PrivacyScope(user=find_user(f"{gone}@b.example").pk))
    if connection.vendor == "postgresql":
        call_command("privacy", "clear-files", yes=True)
    assert words_found({gone, *words}) == set(words)
    assert removal.counts["EndUser"] == removal.counts["SubjectLimits"] == 1
    assert removal.counts["LimitRejection"] == 1
    assert removal.counts["CallerDay"] == removal.counts["ComponentCall"] == 1
    left = models.EndUser.objects.values_list("identifier", flat=True)
    assert set(left) == {f"id-{word}" for word in words}
    assert models.Conversation.objects.of_callers().count() == people - 1
    assert models.TestCase.objects.filter(question__startswith="Saved").count() == people - 1
