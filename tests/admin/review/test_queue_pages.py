"""Queues and criteria in the admin."""

from typing import Any

from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import Conversation, Criterion, Mark, ReviewQueue, Verdict
from tests.admin.pages import submit
from tests.admin.transcripts.test_list import LIST, make_conversations
from tests.factories import make_copilot, make_user, sign_in

pytestmark = pytest.mark.django_db
QUEUES = "/admin/copilot_admin/reviewqueue/"
CRITERIA = "/admin/copilot_admin/criterion/"


def create(browser: Browser, query: str = "", **changes: Any) -> Any:
    sent = {"name": "Week", "share": "100", "judges": "1", "_changelist_filters": query}
    return browser.post(f"{QUEUES}add/", {**sent, **changes}, follow=True)


def test_a_queue_is_created_from_a_filtered_list(reviewer: Browser):
    copilot = make_copilot()
    make_conversations(20, copilot)
    make_conversations(5)
    query = f"copilot={copilot.pk}"
    path = f"{QUEUES}add/?_changelist_filters=copilot%3D{copilot.pk}"
    assert path in reviewer.get(f"{LIST}?{query}").content.decode()
    form = reviewer.get(path)
    assert form.context["found"] == 20
    eve = make_user(Role.REVIEWERS)
    page = create(reviewer, query, name="<b>Week</b>", share="25", judges="2", reviewers=[eve.pk])
    assert "&lt;b&gt;Week&lt;/b&gt;" in page.content.decode()
    queue = ReviewQueue.objects.get()
    assert (queue.n_matching, queue.judges, queue.filters) == (20, 2, query)
    of_copilot = Conversation.objects.filter(copilot=copilot, assignments__queue=queue)
    assert of_copilot.distinct().count() == 5
    assert queue.assignments.filter(reviewer=eve).count() == 5
    assert "0 of 10" in reviewer.get(QUEUES).content.decode()
    mine = sign_in(eve)
    tabs = mine.get(LIST).context["tabs"]
    assert [tab["count"] for tab in tabs if "assigned=" in tab["url"]] == ["5"]


def test_a_queue_is_closed_and_opened(reviewer: Browser):
    queue = ReviewQueue.objects.create(name="Week")
    for sent, is_closed in (("1", True), ("0", False)):
        reviewer.post(f"{QUEUES}{queue.pk}/close/", {"closed": sent})
        queue.refresh_from_db()
        assert queue.is_closed is is_closed
        assert reviewer.get(f"{QUEUES}{queue.pk}/change/").status_code == 200
    assert reviewer.post(f"{QUEUES}{queue.pk}/close/", {"closed": "x"}).status_code == 404
    for pk in ("999", "x", "9" * 5000):
        assert reviewer.get(f"{QUEUES}{pk}/change/").status_code == 404


@pytest.fixture
def operator(db: None) -> Browser:
    """The browser of somebody who says what is judged."""
    return sign_in(make_user(Role.OPERATORS))


def test_an_operator_defines_labels_and_scores(operator: Browser):
    changes = {"name": "Tone", "kind": "score", "lowest": "1", "highest": "3"}
    submit(operator, f"{CRITERIA}add/", changes, form_id="criterion_form", button="_save")
    tone = Criterion.objects.get()
    assert (tone.name, tone.kind, tone.highest) == ("Tone", "score", 3)
    page = submit(
        operator,
        f"{CRITERIA}add/",
        {**changes, "name": "Odd", "highest": "1"},
        form_id="criterion_form",
    )
    assert page.context["errors"]
    assert Criterion.objects.count() == 1


def test_what_was_judged_with_keeps_its_meaning(operator: Browser):
    tone = Criterion.objects.create(name="Tone", kind="score")
    make_conversations(1)
    verdict = Verdict.objects.create(conversation=Conversation.objects.get(), rating="good")
    Mark.objects.create(verdict=verdict, criterion=tone, value=5)
    path = f"{CRITERIA}{tone.pk}/change/"
    changes = {"name": "Sound", "highest": "9", "is_retired": "on"}
    submit(operator, path, changes, form_id="criterion_form", button="_save")
    tone.refresh_from_db()
    assert (tone.name, tone.highest, tone.is_retired) == ("Sound", 5, True)
