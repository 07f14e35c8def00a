"""Reviewing: verdicts, ratings of answers, notes, and the next conversation of a list or a queue."""

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
from copilot_admin.review.queues import add_to_queue
from tests.admin.pages import messages_of
from tests.admin.transcripts.test_list import make_conversations
from tests.admin.transcripts.test_pages import address, text_of
from tests.admin.transcripts.transcript_rows import long_conversation
from tests.factories import make_copilot, make_user, sign_in

pytestmark = pytest.mark.django_db
XSS = "<script>alert(1)</script>"
HTMX = {"HX-Request": "true"}


def criteria() -> tuple[Criterion, Criterion]:
    wrong = Criterion.objects.create(name="Wrong <b>number</b>", position=1)
    return wrong, Criterion.objects.create(name="Tone", kind=CriterionKind.SCORE, highest=3)


def post(browser: Browser, conversation: Conversation, rest: str, **data: Any) -> Any:
    return browser.post(address(conversation, rest), data)


def other_reviewer() -> Browser:
    return sign_in(make_user(Role.REVIEWERS))


def test_a_verdict_replaces_the_earlier_one_of_its_author(reviewer: Browser):
    wrong, tone = criteria()
    conversation = long_conversation(1)
    sent = {"rating": "bad", "comment": XSS, f"criterion_{wrong.pk}": "on"}
    sent[f"criterion_{tone.pk}"] = "2"
    page = text_of(reviewer.post(address(conversation, "review/"), sent, follow=True))
    assert "&lt;script&gt;alert(1)" in page
    assert "Wrong &lt;b&gt;number&lt;/b&gt;" in page
    verdict = Verdict.objects.get()
    assert (verdict.rating, verdict.comment) == ("bad", XSS)
    marks = Mark.objects.order_by("value").values_list("criterion", "value")
    assert list(marks) == [(wrong.pk, 1), (tone.pk, 2)]
    conversation.refresh_from_db()
    assert conversation.review_state == ReviewState.DONE

    tone.is_retired = True
    tone.save()
    post(reviewer, conversation, "review/", rating="good", comment="")
    assert Verdict.objects.get().rating == "good"
    assert list(Mark.objects.values_list("criterion", "value")) == [(tone.pk, 2)]


def test_an_answer_is_rated_where_it_stands(reviewer: Browser):
    conversation = long_conversation(2)
    turn = Turn.objects.latest("id")
    path = address(conversation, f"turns/{turn.pk}/verdict/")
    form = text_of(reviewer.get(path, headers=HTMX))
    assert "data-rate" in form
    assert "<html" not in form
    assert "<html" in text_of(reviewer.get(path))
    missing = text_of(reviewer.post(path, {}, headers=HTMX))
    assert 'class="ca-error"' in missing
    assert f'id="turn-{turn.pk}"' in missing
    rated = text_of(reviewer.post(path, {"rating": "mixed", "comment": "So so"}, headers=HTMX))
    assert 'data-verdict="mixed"' in rated
    assert "with some words to read" in rated
    answer = reviewer.post(path, {"rating": "bad"})
    assert answer["Location"].endswith(f"?turn={turn.pk}#turn-{turn.pk}")
    assert (Verdict.objects.get().turn, Verdict.objects.get().rating) == (turn, "bad")
    conversation.refresh_from_db()
    assert conversation.review_state == ReviewState.NEW
    assert (
        reviewer.get(address(long_conversation(1), f"turns/{turn.pk}/verdict/")).status_code == 404
    )


def test_notes_belong_to_their_author(reviewer: Browser):
    conversation = long_conversation(1)
    turn = Turn.objects.get()
    answer = post(reviewer, conversation, f"turns/{turn.pk}/notes/", text=f" {XSS} ")
    assert answer["Location"].endswith(f"#turn-{turn.pk}")
    note = TurnNote.objects.get()
    assert note.text == XSS
    edit = address(conversation, f"notes/{note.pk}/")
    page = text_of(reviewer.get(address(conversation)))
    assert "&lt;script&gt;alert(1)" in page
    assert edit in page
    reviewer.post(edit, {"text": "Better"})
    reviewer.post(edit, {"text": " "})
    assert TurnNote.objects.get().text == "Better"
    other = other_reviewer()
    page = text_of(other.get(address(conversation)))
    assert "Better" in page
    assert edit not in page
    assert other.post(edit, {"_delete": "x"}).status_code == 404
    reviewer.post(edit, {"_delete": "x"})
    assert not TurnNote.objects.exists()


def test_next_and_previous_follow_the_filtered_list(reviewer: Browser):
    copilot = make_copilot()
    for number in range(3):
        make_conversations(1, copilot, title=f"Mine {number}")
        make_conversations(1, title="Another")
    mine = list(Conversation.objects.filter(copilot=copilot).order_by("-last_at", "-id"))
    query = f"?_changelist_filters=copilot%3D{copilot.pk}"

    def go(conversation: Conversation, direction: str) -> str:
        return reviewer.get(address(conversation, f"go/{direction}/{query}"))["Location"]

    assert go(mine[0], "next") == address(mine[1]) + query
    assert go(mine[1], "next") == address(mine[2]) + query
    assert go(mine[1], "previous") == address(mine[0]) + query
    for here, direction in ((mine[2], "next"), (mine[0], "previous")):
        end = reviewer.get(address(here, f"go/{direction}/{query}"), follow=True)
        assert (end.context["conversation"], len(messages_of(end))) == (here, 1)
    assert reviewer.get(address(mine[0], "go/odd/")).status_code == 404
    sent = {"rating": "good", "_changelist_filters": f"copilot={copilot.pk}", "_next": ""}
    assert post(reviewer, mine[0], "review/", **sent)["Location"] == address(mine[1]) + query


def test_a_queue_is_worked_through_to_its_result(reviewer: Browser):
    make_conversations(2)
    queue = ReviewQueue.objects.create(name="Week")
    add_to_queue(queue, list(Conversation.objects.values_list("pk", flat=True)))
    page = reviewer.post(f"/admin/copilot_admin/reviewqueue/{queue.pk}/next/", follow=True)
    first = page.context["conversation"]
    page = reviewer.post(address(first, "skip/"), {"queue": queue.pk}, follow=True)
    second = page.context["conversation"]
    assert second != first
    sent = {"rating": "good", "queue": queue.pk, "_next": ""}
    page = reviewer.post(address(second, "review/"), sent, follow=True)
    assert page.context["conversation"] == first
    page = reviewer.post(address(first, "review/"), sent, follow=True)
    assert page.context["queue"] == queue
    assert page.context["result"]["ratings"][0][2] == 2
    assert reviewer.post(address(first, "skip/"), {"queue": 999}).status_code == 404


def test_reviewers_see_each_others_verdicts(reviewer: Browser):
    conversation = long_conversation(1)
    add_to_queue(ReviewQueue.objects.create(name="Week", judges=2), [conversation.pk])
    post(other_reviewer(), conversation, "review/", rating="bad", comment="Their words")
    assert "Their words" in text_of(reviewer.get(address(conversation)))
    User.objects.exclude(pk=reviewer.session["_auth_user_id"]).delete()
    assert "Deleted account" in text_of(reviewer.get(address(conversation)))


def test_readers_review_nothing():
    conversation = long_conversation(1)
    turn = Turn.objects.get()
    reader = make_user()
    reader.user_permissions.add(Permission.objects.get(codename="view_conversation"))
    browser = sign_in(reader)
    page = text_of(browser.get(address(conversation)))
    assert "verdict-form" not in page
    assert "/notes/" not in page
    paths = ("review/", "skip/", f"turns/{turn.pk}/verdict/", f"turns/{turn.pk}/notes/", "notes/1/")
    for rest in paths:
        assert post(browser, conversation, rest, rating="good", text="x").status_code == 403
    assert browser.post("/admin/copilot_admin/reviewqueue/1/next/").status_code == 403
    assert not Verdict.objects.exists()
