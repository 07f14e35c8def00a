"""Queues and criteria in the admin."""

from urllib.parse import urlencode

from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import (
    Conversation,
    Criterion,
    Mark,
    ReviewQueue,
    Seat,
    Verdict,
)
from copilot_admin.review import queues
from tests.admin.pages import submit
from tests.admin.transcripts.test_list import LIST, make_conversations
from tests.factories import make_copilot, make_user

pytestmark = pytest.mark.django_db
QUEUES = "/admin/copilot_admin/reviewqueue/"
CRITERIA = "/admin/copilot_admin/criterion/"


def test_a_queue_is_made_of_a_filtered_list(reviewer: Browser):
    copilot = make_copilot()
    make_conversations(20, copilot)
    make_conversations(5)
    listed = reviewer.get(LIST, {"copilot": copilot.pk})
    path = f"{QUEUES}add/?_changelist_filters=copilot%3D{copilot.pk}"
    assert path in listed.content.decode()
    assert "The filter finds 20 conversations." in reviewer.get(path).content.decode()
    changes = {"name": "<b>Week</b>", "share": "25", "judges": "2"}
    page = submit(reviewer, path, changes, form_id="queue-form").content.decode()
    assert "0 of 10 readings done" in page
    assert "&lt;b&gt;Week&lt;/b&gt;" in page
    assert "Nothing was judged by two people yet." in page
    queue = ReviewQueue.objects.get()
    assert (queue.n_matching, queue.judges, queue.filters) == (20, 2, f"copilot={copilot.pk}")
    of_copilot = Conversation.objects.filter(copilot=copilot, seats__queue=queue)
    assert of_copilot.distinct().count() == 5
    assert "0 of 10" in reviewer.get(QUEUES).content.decode()


def test_a_filter_that_finds_nothing_makes_no_queue(reviewer: Browser):
    page = reviewer.get(f"{QUEUES}add/?_changelist_filters=copilot%3D1")
    assert "No conversation matches this filter" in page.content.decode()
    sent = {"name": "Week", "share": "100", "judges": "1"}
    assert reviewer.post(f"{QUEUES}add/", sent).status_code == 200
    assert not ReviewQueue.objects.exists()


def test_a_queue_has_no_more_than_people_can_read(
    reviewer: Browser, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(queues, "MOST_QUEUED", 20)
    make_conversations(21)
    changes = {"name": "All", "share": "100", "judges": "1"}
    submit(reviewer, f"{QUEUES}add/", changes, form_id="queue-form")
    assert Seat.objects.count() == 20


def test_a_queue_is_closed_and_opened(reviewer: Browser):
    queue = ReviewQueue.objects.create(name="Week")
    reviewer.post(f"{QUEUES}{queue.pk}/close/", {"closed": "1"})
    assert "The queue is closed" in reviewer.get(f"{QUEUES}{queue.pk}/change/").content.decode()
    reviewer.post(f"{QUEUES}{queue.pk}/close/", {"closed": "0"})
    queue.refresh_from_db()
    assert not queue.is_closed
    assert reviewer.post(f"{QUEUES}{queue.pk}/close/", {"closed": "x"}).status_code == 404
    assert reviewer.get(f"{QUEUES}999/change/").status_code == 404
    assert reviewer.get(f"{QUEUES}x/change/").status_code == 404
    assert reviewer.get(f"{QUEUES}{'9' * 5000}/change/").status_code == 404


@pytest.fixture
def operator(db: None) -> Browser:
    """The browser of somebody who says what is judged."""
    browser = Browser()
    browser.force_login(make_user(Role.OPERATORS))
    return browser


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
    assert "Scores go from a lower to a higher number" in page.content.decode()
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


def test_a_queue_of_what_an_id_found_has_that_alone(reviewer: Browser):
    make_conversations(1, title="named", trace_id="trace-1")
    make_conversations(3)
    named = Conversation.objects.get(title="named")
    for words in ("trace-1", f"#{named.pk}"):
        path = f"{QUEUES}add/?{urlencode({'_changelist_filters': urlencode({'q': words})})}"
        assert "The filter finds one conversation." in reviewer.get(path).content.decode()
        changes = {"name": "Week", "share": "100", "judges": "1"}
        submit(reviewer, path, changes, form_id="queue-form")
        seats = ReviewQueue.objects.latest("pk").seats
        assert list(seats.values_list("conversation", flat=True)) == [named.pk]
