"""Queues and criteria in the admin."""

import json
from urllib.parse import urlencode

from django.test import Client as Browser
import pytest

from copilot_admin.config.roles import Role
from copilot_admin.models import (
    Action,
    AuditEntry,
    Conversation,
    Criterion,
    Mark,
    ReviewQueue,
    Seat,
    Verdict,
)
from copilot_admin.review import queues
from tests.admin.pages import messages_of, submit
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


def test_a_share_can_be_drawn_again_by_its_seed(reviewer: Browser):
    make_conversations(40)

    def drawn_with(seed: str) -> tuple[ReviewQueue, list[int], str]:
        changes = {"name": "Week", "share": "25", "seed": seed, "judges": "1"}
        page = submit(reviewer, f"{QUEUES}add/", changes, form_id="queue-form").content.decode()
        queue = ReviewQueue.objects.latest("pk")
        return queue, list(queue.seats.values_list("conversation", flat=True)), page

    any_seed, drawn, page = drawn_with("")
    assert any_seed.seed is not None
    told = f"Drawn at random: 25 % of 40 conversations, with the seed {any_seed.seed}."
    assert told in page
    assert drawn_with(str(any_seed.seed))[1] == drawn
    assert drawn_with(str(any_seed.seed % 1000 + 1))[1] != drawn
    entry = AuditEntry.objects.filter(action=Action.ADDED).earliest("pk")
    facts = {"judges": 1, "conversations": 40, "share": 25, "seed": any_seed.seed}
    assert json.loads(entry.after) == facts


def test_of_a_whole_list_nothing_is_drawn(reviewer: Browser):
    make_conversations(3)
    changes = {"name": "Week", "share": "100", "seed": "7", "judges": "1"}
    page = submit(reviewer, f"{QUEUES}add/", changes, form_id="queue-form").content.decode()
    queue = ReviewQueue.objects.get()
    assert (queue.share, queue.seed, "Drawn at random" in page) == (None, None, False)


@pytest.mark.parametrize("share", ["0", "101", "x"])
def test_an_odd_share_is_refused_in_words(reviewer: Browser, share: str):
    make_conversations(1)
    changes = {"name": "Week", "share": share, "judges": "1"}
    page = submit(reviewer, f"{QUEUES}add/", changes, form_id="queue-form")
    assert "errorlist" in page.content.decode()
    assert not ReviewQueue.objects.exists()


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


def test_words_in_which_nothing_can_be_looked_for_make_no_queue(reviewer: Browser):
    make_conversations(2)
    page = reviewer.get(f"{QUEUES}add/?_changelist_filters=q%3D***").content.decode()
    assert "No conversation matches this filter" in page


@pytest.mark.parametrize("words", ["%00", "Question%00", "Question\0"])
def test_a_nul_in_the_words_of_a_list_is_none_of_them(reviewer: Browser, words: str):
    make_conversations(2)
    Conversation.objects.update(trace_id="")
    filters = {"_changelist_filters": f"q={words}&outcome=completed"}
    newest, other = Conversation.objects.order_by("-last_at", "-id")
    is_searched = words != "%00"
    page = reviewer.get(f"{QUEUES}add/", filters).content.decode()
    assert ("No conversation matches" in page) is is_searched  # nothing was said in these
    onward = reviewer.get(f"{LIST}{newest.pk}/beside/older/", filters)
    assert (f"/{other.pk}/" in onward["Location"]) is not is_searched


def test_filters_that_are_longer_than_an_address_make_no_queue(reviewer: Browser):
    make_conversations(2)
    filters = urlencode({"tag": "x" * 9_000})
    page = reviewer.get(f"{QUEUES}add/", {"_changelist_filters": filters}, follow=True)
    assert messages_of(page) == ["The filters are too long for a queue. Choose less in them."]
