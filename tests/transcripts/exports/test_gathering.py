"""Conversations are read together where they are small, and written as if each were read by itself."""

from itertools import product

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
import pytest

from copilot_admin.jobs.removal import remove_batch
from copilot_admin.jobs.tasks import BatchResult
from copilot_admin.models import Cause, Conversation, Rating, Removal, Turn, Verdict
from copilot_admin.models.privacy import ERASED
from copilot_admin.privacy import rows as privacy_rows
from copilot_admin.privacy.rows import DeletedRows
from copilot_admin.transcripts.exports import gathering
from copilot_admin.transcripts.exports.conversations import ExportedConversation, ExportOptions
from copilot_admin.transcripts.exports.format import all_formats
from copilot_admin.transcripts.exports.gathering import gathered
from copilot_admin.transcripts.exports.selection import read_selection
from copilot_admin.transcripts.exports.walking import ExportWalk, Passed, written
from tests.admin.transcripts.transcript_rows import long_conversation, rich_conversation
from tests.factories import make_user, make_version
from tests.transcripts.exports.exporting import said_by
from tests.transcripts.store.journaling import Client

ALONE = 11  # queries at most of what is read by itself
pytestmark = pytest.mark.django_db


def small(number: int) -> None:
    version = make_version()
    for one in range(number):
        Client(version=version, trace_id=f"t-{one}").ask(f"Q{one}?").answer("Yes.")


def rows() -> list[Conversation]:
    return list(Conversation.objects.select_related("copilot", "user").order_by("-pk"))


def said_together(name: str, some: list[Conversation], **options: bool) -> list[str]:
    form = all_formats()[name]
    read = gathered(some, ExportOptions(**options))
    return ["".join(form.conversation(one)) for shelf in read for one in shelf]


def queries(name: str, some: list[Conversation], **options: bool) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        said_together(name, some, **options)
    return len(seen)


def verdict(conversation: Conversation) -> Verdict:
    return Verdict.objects.create(
        conversation=conversation, author=make_user(), rating=Rating.BAD, comment="Wrong."
    )


@pytest.mark.nightly
def test_what_is_read_together_is_written_as_what_is_read_alone():
    verdict(rich_conversation())
    long_conversation(5)
    small(2)
    for name, with_data in product(("csv", "jsonl", "md", "html"), (False, True)):
        options = {"with_data": with_data, "with_prompts": True}
        alone = [said_by(name, row, **options) for row in rows()]
        assert said_together(name, rows(), **options) == alone, (name, with_data)


@pytest.mark.parametrize("name", ["csv", "jsonl", "html"])
def test_many_small_conversations_take_no_more_queries_than_a_few(name: str):
    small(30)
    few, many = queries(name, rows()[:5]), queries(name, rows())
    assert few == many <= 2 + ALONE


def test_no_more_turns_are_read_at_once_than_memory_is_for(monkeypatch):
    small(12)
    at_once = queries("csv", rows())
    monkeypatch.setattr(gathering, "MOST_TURNS", 6)
    assert queries("csv", rows()) == 2 + 2 * (at_once - 2)


@pytest.mark.parametrize("bound", ["MOST_TURNS", "MOST_CHARACTERS"])
def test_what_is_long_is_read_by_itself(bound: str, monkeypatch):
    small(2)
    together = said_together("csv", rows())
    monkeypatch.setattr(gathering, bound, 0)
    assert [len(shelf) for shelf in gathered(rows(), ExportOptions())] == [1, 1]
    assert said_together("csv", rows()) == together


def test_one_that_is_deleted_while_it_is_read_is_left_out_and_the_others_are_whole():
    small(3)
    gone, *others = rows()
    read = iter(gathered([gone, *others], ExportOptions()))
    Conversation.objects.filter(pk=gone.pk).delete()
    (shelf,) = read
    texts = ["".join(all_formats()["csv"].conversation(one)) for one in shelf]
    assert [text.count("Yes.") for text in texts] == [0, 1, 1]


def test_a_prompt_is_read_once_for_all_that_a_version_answered():
    small(10)
    plain, with_prompts = queries("jsonl", rows()), queries("jsonl", rows(), with_prompts=True)
    assert with_prompts == plain + 1


def begin_to_remove(pk: int, cause: Cause) -> None:
    """Takes a conversation; its rows go in the batches that follow."""
    removal = Removal.objects.create(cause=cause, conversation=pk, moved_at=timezone.now())
    assert remove_batch(removal.pk) is BatchResult.MORE
    assert Conversation.objects.get(pk=pk).principal.startswith(ERASED)


@pytest.fixture
def _rows_go_later(monkeypatch) -> None:
    monkeypatch.setattr(privacy_rows, "delete_first_rows", lambda *_, **__: DeletedRows())


@pytest.mark.usefixtures("_rows_go_later")
@pytest.mark.parametrize("cause", list(Cause))
def test_what_is_being_deleted_is_in_no_export_that_begins_then(cause: Cause):
    small(3)
    first, second, third = rows()
    begin_to_remove(second.pk, cause)
    walk = ExportWalk(
        selection=read_selection(""), format=all_formats()["csv"], options=ExportOptions()
    )
    passed = [one for one in written(walk, first.pk + 1) if isinstance(one, Passed)]
    assert [one.position for one in passed if one.n_turns] == [first.pk, third.pk]


@pytest.mark.usefixtures("_rows_go_later")
@pytest.mark.parametrize("with_data", [False, True])
@pytest.mark.parametrize("name", list(all_formats()))
def test_what_begins_to_be_deleted_while_it_is_read_is_not_written_by_halves(
    name: str, with_data: bool
):
    small(1)
    (row,) = rows()
    exported = ExportedConversation(row, ExportOptions(with_data=with_data))
    assert exported.n_turns == 1
    begin_to_remove(row.pk, Cause.RETENTION)
    text = "".join(all_formats()[name].conversation(exported))
    assert ("Yes." in text, exported.is_gone) == (False, True)


@pytest.mark.usefixtures("_rows_go_later")
def test_what_has_lost_its_questions_before_it_was_read_is_not_counted():
    small(1)
    (row,) = rows()
    exported = ExportedConversation(row, ExportOptions())
    begin_to_remove(row.pk, Cause.RETENTION)
    Turn.objects.all().delete()
    assert (exported.n_turns, exported.is_gone) == (0, True)
