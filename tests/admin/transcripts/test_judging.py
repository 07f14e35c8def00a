"""Reviewers judge: verdicts, notes, states, and the way along a list or through a queue."""

from typing import Any

from django.contrib.auth.models import Permission, User
from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import (
    Conversation,
    Criterion,
    CriterionKind,
    Mark,
    ReviewQueue,
    ReviewState,
    Turn,
    TurnNote,
    Verdict,
)
from copilot_admin.review.queues import make_queue
from tests.admin.pages import messages_of, submit
from tests.admin.transcripts.test_list import LIST, make_conversations
from tests.admin.transcripts.test_pages import address, text_of
from tests.admin.transcripts.transcript_rows import long_conversation
from tests.factories import make_copilot, make_user

pytestmark = pytest.mark.django_db
XSS = "<script>alert(1)</script>"


def criteria() -> tuple[Criterion, Criterion]:
    wrong = Criterion.objects.create(name="Wrong <b>number</b>", position=1)
    return wrong, Criterion.objects.create(name="Tone", kind=CriterionKind.SCORE, highest=3)


def judge(browser: Browser, conversation: Conversation, **changes: Any) -> Any:
    path = address(conversation)
    return submit(browser, path, changes, form_id="verdict-form", button="_stay")


def post(browser: Browser, conversation: Conversation, rest: str, **data: Any) -> Any:
    return browser.post(address(conversation, rest), data)


def the_reviewer() -> User:
    return User.objects.get(groups__name=Role.REVIEWERS)


def test_a_verdict_is_kept_and_replaced_by_the_next_one_of_its_author(reviewer: Browser):
    wrong, tone = criteria()
    conversation = long_conversation(1)
    sent = {"rating": "bad", "comment": XSS, f"criterion_{wrong.pk}": "on"}
    sent[f"criterion_{tone.pk}"] = "2"
    path = address(conversation, "judge/")
    page = reviewer.post(path, sent, follow=True)
    assert messages_of(page) == ["Your verdict is kept."]
    html = text_of(page)
    assert "&lt;script&gt;alert(1)" in html
    assert "Wrong &lt;b&gt;number&lt;/b&gt;" in html
    verdict = Verdict.objects.get()
    assert (verdict.rating, verdict.comment, verdict.author) == ("bad", XSS, the_reviewer())
    marks = Mark.objects.order_by("value").values_list("criterion", "value")
    assert list(marks) == [(wrong.pk, 1), (tone.pk, 2)]
    conversation.refresh_from_db()
    assert conversation.review_state == ReviewState.DONE
    assert (conversation.n_up, conversation.n_down) == (0, 0)

    tone.is_retired = True
    tone.save()
    reviewer.post(path, {"rating": "good", "comment": ""})
    assert Verdict.objects.get().rating == "good"
    assert list(Mark.objects.values_list("criterion", "value")) == [(tone.pk, 2)]


def test_a_verdict_without_a_rating_says_so_and_keeps_what_was_typed(reviewer: Browser):
    wrong, tone = criteria()
    conversation = long_conversation(1)
    sent = {"comment": "Long thoughts", f"criterion_{wrong.pk}": "on", f"criterion_{tone.pk}": "9"}
    page = text_of(post(reviewer, conversation, "judge/", **sent))
    assert "Choose good, mixed or bad." in page
    assert "Select a valid choice. 9 is not one of the available choices." in page
    assert ">\nLong thoughts</textarea>" in page
    assert f'id="id_criterion_{wrong.pk}" checked' in page
    assert not Verdict.objects.exists()


def test_a_turn_has_a_verdict_of_its_own(reviewer: Browser):
    conversation = long_conversation(2)
    turn = Turn.objects.latest("id")
    path = address(conversation, f"turns/{turn.pk}/verdict/")
    assert "Question 1?" in text_of(reviewer.get(path))
    answer = reviewer.post(path, {"rating": "mixed", "comment": "So so"})
    assert answer["Location"].endswith(f"?turn={turn.pk}#turn-{turn.pk}")
    assert (Verdict.objects.get().turn, Verdict.objects.get().rating) == (turn, "mixed")
    assert "So so" in text_of(reviewer.get(address(conversation)))
    conversation.refresh_from_db()
    assert conversation.review_state == ReviewState.NEW
    other = long_conversation(1)
    assert reviewer.get(address(other, f"turns/{turn.pk}/verdict/")).status_code == 404


def test_a_state_is_set_and_the_list_finds_it(reviewer: Browser):
    conversation = long_conversation(1)
    make_conversations(1)
    assert post(reviewer, conversation, "review-state/", state="in_review").status_code == 302
    page = reviewer.get(LIST, {"state": "in_review"})
    assert [row.pk for row in page.context["cl"].result_list] == [conversation.pk]
    assert post(reviewer, conversation, "review-state/", state="odd").status_code == 404


def test_the_list_finds_a_label(reviewer: Browser):
    wrong, _ = criteria()
    conversation = long_conversation(1)
    make_conversations(1)
    sent = {"rating": "bad", f"criterion_{wrong.pk}": "on"}
    post(reviewer, conversation, "judge/", **sent)
    page = reviewer.get(LIST, {"label": wrong.pk})
    assert [row.pk for row in page.context["cl"].result_list] == [conversation.pk]
    for odd in ("x", "9" * 30, "0"):
        assert not reviewer.get(LIST, {"label": odd}).context["cl"].result_list


def test_notes_stand_in_the_margin_and_their_author_changes_them(reviewer: Browser):
    conversation = long_conversation(1)
    turn = Turn.objects.get()
    answer = post(reviewer, conversation, f"turns/{turn.pk}/notes/", text=f" {XSS} ")
    assert answer["Location"].endswith(f"#turn-{turn.pk}")
    note = TurnNote.objects.get()
    assert (note.text, note.author) == (XSS, the_reviewer())
    page = text_of(reviewer.get(address(conversation)))
    assert "&lt;script&gt;alert(1)" in page
    edit = address(conversation, f"notes/{note.pk}/")
    assert edit in page
    reviewer.post(edit, {"text": "Better"})
    assert TurnNote.objects.get().text == "Better"
    assert "Write something" in text_of(reviewer.post(edit, {"text": " "}))

    other = Browser()
    other.force_login(make_user(Role.REVIEWERS))
    assert "Better" in text_of(other.get(address(conversation)))
    assert other.get(edit).status_code == 404
    assert other.post(edit, {"_delete": "x"}).status_code == 404

    reviewer.post(edit, {"_delete": "x"})
    assert not TurnNote.objects.exists()


@pytest.mark.parametrize("text", ["", "  ", "x" * 10_001])
def test_a_note_that_cannot_be_kept_is_shown_again(reviewer: Browser, text: str):
    conversation = long_conversation(1)
    turn = Turn.objects.get()
    page = text_of(post(reviewer, conversation, f"turns/{turn.pk}/notes/", text=text))
    assert "errornote" in page
    assert text.strip() in page
    assert not TurnNote.objects.exists()


def test_next_and_previous_go_along_the_filtered_list(reviewer: Browser):
    copilot = make_copilot()
    for number in range(3):
        make_conversations(1, copilot, title=f"Mine {number}")
        make_conversations(1, title="Another")
    mine = list(Conversation.objects.filter(copilot=copilot).order_by("-last_at", "-id"))
    way = f"?_changelist_filters=copilot%3D{copilot.pk}"
    listed = text_of(reviewer.get(LIST, {"copilot": copilot.pk}))
    assert f"/{mine[0].pk}/change/{way}" in listed

    def beside(conversation: Conversation, direction: str) -> str:
        return reviewer.get(address(conversation, f"beside/{direction}/{way}"))["Location"]

    assert beside(mine[0], "older") == address(mine[1]) + way
    assert beside(mine[1], "older") == address(mine[2]) + way
    assert beside(mine[1], "newer") == address(mine[0]) + way
    end = reviewer.get(address(mine[2], f"beside/older/{way}"), follow=True)
    assert messages_of(end) == ["That was the last conversation of the list."]
    start = reviewer.get(address(mine[0], f"beside/newer/{way}"), follow=True)
    assert messages_of(start) == ["That was the first conversation of the list."]
    assert reviewer.get(address(mine[0], "beside/odd/")).status_code == 404
    odd = address(mine[0], "beside/older/?_changelist_filters=nothing%3Dlike")
    assert reviewer.get(odd)["Location"].startswith(address(mine[0]))


def test_saving_goes_on_along_the_list(reviewer: Browser):
    copilot = make_copilot()
    make_conversations(2, copilot)
    first, second = Conversation.objects.order_by("-last_at", "-id")
    filters = f"copilot={copilot.pk}"
    sent = {"rating": "good", "_changelist_filters": filters, "_next": ""}
    answer = post(reviewer, first, "judge/", **sent)
    assert answer["Location"] == f"{address(second)}?_changelist_filters=copilot%3D{copilot.pk}"


def test_a_queue_is_read_to_its_end(reviewer: Browser):
    make_conversations(2)
    ids = list(Conversation.objects.values_list("pk", flat=True))
    queue = ReviewQueue(name="Week")
    make_queue(queue, ids)
    page = reviewer.post(f"/admin/copilot_admin/reviewqueue/{queue.pk}/next/", follow=True)
    assert "0 of 2 done" in text_of(page)
    first = page.context["conversation"]
    page = reviewer.post(address(first, "skip/"), {"queue": queue.pk}, follow=True)
    second = page.context["conversation"]
    assert second != first
    sent = {"rating": "good", "queue": queue.pk, "_next": ""}
    page = reviewer.post(address(second, "judge/"), sent, follow=True)
    assert page.context["conversation"] == first
    page = reviewer.post(address(first, "judge/"), sent, follow=True)
    assert "There is nothing left for you in this queue." in messages_of(page)
    assert page.context["queue"] == queue
    gone = reviewer.post(address(first, "skip/"), {"queue": 999})
    assert gone.status_code == 404


@pytest.mark.parametrize("judges", [1, 2])
def test_reviewers_see_the_verdicts_of_each_other(reviewer: Browser, judges: int):
    conversation = long_conversation(1)
    make_queue(ReviewQueue(name="Week", judges=judges), [conversation.pk])
    other = Browser()
    other.force_login(make_user(Role.REVIEWERS))
    post(other, conversation, "judge/", rating="bad", comment="Their words")
    assert "Their words" in text_of(reviewer.get(address(conversation)))


def test_who_may_only_read_judges_nothing():
    conversation = long_conversation(1)
    turn = Turn.objects.get()
    reader = make_user()
    reader.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    browser = Browser()
    browser.force_login(reader)
    page = text_of(browser.get(address(conversation)))
    assert "verdict-form" not in page
    assert "Save note" not in page
    for rest in (
        "judge/",
        "review-state/",
        "skip/",
        f"turns/{turn.pk}/verdict/",
        f"turns/{turn.pk}/notes/",
        "notes/1/",
    ):
        assert post(browser, conversation, rest, rating="good", text="x").status_code == 403
    assert browser.post("/admin/copilot_admin/reviewqueue/1/next/").status_code == 403
    assert not Verdict.objects.exists()


def test_a_person_who_is_gone_leaves_verdicts_and_notes(reviewer: Browser):
    conversation = long_conversation(1)
    post(reviewer, conversation, "judge/", rating="good", comment="Mine")
    post(reviewer, conversation, f"turns/{Turn.objects.get().pk}/notes/", text="A note")
    the_reviewer().delete()
    other = Browser()
    other.force_login(make_user(Role.REVIEWERS))
    page = text_of(other.get(address(conversation)))
    assert page.count("Somebody who is gone") == 2


def test_a_turn_that_is_none_of_a_conversation_is_not_found(reviewer: Browser):
    conversation = long_conversation(1)
    answer = post(reviewer, conversation, "turns/99/notes/", text="Typed")
    assert (answer.status_code, b"was deleted while" in answer.content) == (404, False)
