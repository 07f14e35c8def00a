"""The pages of saved questions: read side by side, asked, stopped, edited."""

from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse
from django.utils import timezone
import pytest

from copilot_admin.admin.copilots.archive import duplicate
from copilot_admin.config.roles import Role
from copilot_admin.evaluation.question_runs import digest_of_draft
from copilot_admin.import_export.questions import rows_of
from copilot_admin.jobs import tasks as background_tasks
from copilot_admin.jobs.tasks import BACKGROUND
from copilot_admin.models import AnswerState, Copilot, Judgement, SavedAnswer, SavedQuestion, Side
from tests.admin.pages import messages_of, submit
from tests.factories import make_copilot, make_published, make_saved, make_user
from tests.polling import HANGS_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)
WIDGET = {"id": "prices", "rows": [{"close": 106}]}


@pytest.fixture(autouse=True)
def _background_is_open() -> None:
    background_tasks.start()


@pytest.fixture
def builder(client: Client) -> Client:
    client.force_login(make_user(Role.BUILDERS, username="ada"))
    return client


def url(name: str, *arguments: object) -> str:
    return reverse(f"admin:copilot_admin_copilot_question{name}", args=arguments)


def text_of(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def answer(saved: SavedQuestion, side: Side, text: str, **changes: object) -> SavedAnswer:
    return SavedAnswer.objects.create(
        **{
            "question": saved,
            "side": side,
            "state": AnswerState.DONE,
            "text": text,
            "judgement": Judgement.AS_EXPECTED,
            "answered_at": timezone.now() + timedelta(seconds=1),
            **changes,
        }
    )


def test_draft_and_live_stand_side_by_side_with_marked_differences(builder):
    copilot = make_published()
    saved = make_saved(copilot, "How much?", expectation={"number": 5, "tolerance": 1})
    answer(saved, Side.LIVE, "It is four.", version_number=1)
    answer(saved, Side.DRAFT, "It is <5>.", digest=digest_of_draft(copilot))
    page = text_of(builder, url("s", copilot.pk))
    assert "It has the number 5, give or take 1." in page
    assert "It is &lt;5&gt;." in page
    assert page.count(">As expected</span>") == 2
    assert "has changed since" not in page
    address = url("_differences", copilot.pk, saved.pk)
    assert address in page
    for marked in (text_of(builder, address), text_of(builder, f"{address}?part=1")):
        assert "It is <del>four</del><ins>&lt;5&gt;</ins>." in marked


def failed(saved: SavedQuestion, side: Side, **source: object) -> SavedAnswer:
    """An answer that broke off, with what it said until then."""
    why = "The key is wrong."
    return answer(
        saved,
        side,
        f"It is. {why}",
        failed=True,
        judgement=Judgement.UNDECIDED,
        reason=why,
        **source,
    )


def test_what_got_no_whole_answer_is_no_different_answer_and_is_said_in_words(builder):
    copilot = make_published()
    draft, live = {"digest": digest_of_draft(copilot)}, {"version_number": 1}
    here, there, everywhere = (make_saved(copilot, f"{number}?") for number in range(3))
    answer(here, Side.LIVE, "It is four.", **live)
    failed(here, Side.DRAFT, **draft)
    failed(there, Side.LIVE, **live)
    answer(there, Side.DRAFT, "It is four.", **draft)
    failed(everywhere, Side.LIVE, **live)
    failed(everywhere, Side.DRAFT, **draft)
    rows = text_of(builder, url("s", copilot.pk))
    assert "What the draft says otherwise" not in rows
    assert rows.count(">No whole answer</span>") == 4
    marked = text_of(builder, url("_differences", copilot.pk, here.pk))
    assert "The draft and what is live have not both answered." in marked
    page = publish_page(builder, copilot)
    assert "answered differently" not in page
    assert "could not be found out" not in page
    assert "were not asked" not in page
    assert "2 questions got no whole answer from the draft" in page
    assert "2 questions got no whole answer from what is live" in page
    assert "Ask again what failed" in page


def questions_of(copilot: Copilot) -> list[str]:
    return [saved.question for saved in SavedQuestion.objects.filter(copilot=copilot)]


@pytest.mark.database
def test_a_question_is_moved_and_its_answers_stay_new(builder):
    copilot = make_copilot()
    first, *_rest, last = [make_saved(copilot, f"{number}?") for number in range(3)]
    answer(last, Side.DRAFT, "a", digest=digest_of_draft(copilot), answered_at=timezone.now())
    response = builder.post(url("_move", copilot.pk, last.pk), {"way": "up"}, follow=True)
    assert messages_of(response) == ["Now at position 2."]
    assert questions_of(copilot) == ["0?", "2?", "1?"]
    assert "has changed since" not in response.content.decode()
    builder.post(url("_move", copilot.pk, first.pk), {"way": "up"})
    builder.post(url("_move", copilot.pk, first.pk), {"way": "down"})
    assert questions_of(copilot) == ["2?", "0?", "1?"]
    builder.post(url("_move", copilot.pk, last.pk + 99), {"way": "down"})
    assert builder.get(url("_move", copilot.pk, last.pk)).status_code == 405
    assert questions_of(copilot) == ["2?", "0?", "1?"]


@pytest.mark.database
def test_a_copy_has_the_questions_without_the_answers(builder):
    copilot = make_copilot(name="Reader")
    make_saved(copilot, body={"widgets": [WIDGET]}, answered=Side.DRAFT)
    make_saved(copilot, "Two?", expectation={"lacks": "x"})
    copied = rows_of(duplicate(copilot))
    assert copied == rows_of(copilot)
    assert len(copied) == 2
    assert SavedAnswer.objects.count() == 1


def publish_page(client: Client, *copilots: Copilot) -> str:
    query = "&".join(f"id={copilot.pk}" for copilot in copilots)
    return text_of(client, f"{reverse('admin:copilot_admin_copilot_publish')}?{query}")


def test_the_page_before_publishing_says_how_many_answer_differently(builder):
    copilot, other = make_published(), make_copilot()
    Copilot.objects.filter(pk=copilot.pk).update(system_prompt="New")
    copilot.refresh_from_db()
    new = {"digest": digest_of_draft(copilot)}
    texts = ["same", "other", "<b>"]
    outcomes = [Judgement.AS_EXPECTED, Judgement.NOT_AS_EXPECTED, Judgement.UNDECIDED]
    for text, judgement in zip(texts, outcomes, strict=True):
        saved = make_saved(copilot)
        answer(saved, Side.LIVE, "same", version_number=1)
        answer(saved, Side.DRAFT, text, judgement=judgement, **new)
    page = publish_page(builder, copilot, other)
    assert "2 of 3 questions are answered differently." in page
    assert "1 answer as expected" in page
    assert "1 answer not as expected" in page
    assert "1 could not be found out" in page
    assert "Ask now" not in page
    assert "No question is saved with this copilot." in page


def test_old_and_missing_answers_are_counted_as_such_and_asked_at_a_push(builder):
    copilot = make_published()
    old, missing, new = (make_saved(copilot, f"{number}?") for number in range(3))
    answer(old, Side.LIVE, "a", version_number=1)
    answer(old, Side.DRAFT, "b", digest="before")
    answer(new, Side.LIVE, "a", version_number=1)
    answer(new, Side.DRAFT, "a", digest=digest_of_draft(copilot))
    page = publish_page(builder, copilot)
    assert "0 of 1 question is answered differently." in page
    assert "2 of 3 were not asked of the draft and of what is live, as they stand." in page
    post = {"side": "old", "next": "publish"}
    response = builder.post(url("_ask", copilot.pk), post, follow=True)
    assert messages_of(response) == ["3 answers are awaited."]
    assert response.resolver_match.url_name == "copilot_admin_copilot_publish"
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    page = publish_page(builder, copilot)
    assert "of 3 questions are answered differently." in page
    assert "Ask now" not in page
    assert SavedAnswer.objects.filter(question=missing).count() == 2


def test_an_answer_is_old_when_question_draft_or_version_changed(builder):
    copilot = make_published()
    saved = make_saved(copilot)
    answer(saved, Side.LIVE, "a", version_number=7)
    answer(saved, Side.DRAFT, "b", digest="other")
    assert text_of(builder, url("s", copilot.pk)).count("has changed since") == 2


def test_all_are_asked_with_progress_and_then_nothing_is_unfinished(builder):
    copilot = make_published()
    make_saved(copilot, "One?")
    make_saved(copilot, "Two?")
    response = builder.post(url("_ask", copilot.pk), {"side": "both"}, follow=True)
    assert messages_of(response) == ["4 answers are awaited."]
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    rows = text_of(builder, url("_rows", copilot.pk))
    assert 'data-unfinished="0"' in rows
    assert rows.count("Answered, nothing was expected") == 4


def test_one_is_asked_alone_and_none_of_another_copilot(builder):
    copilot = make_copilot()
    saved, other = make_saved(copilot), make_saved(make_copilot())
    for question in (saved, other):
        builder.post(url("_ask", copilot.pk), {"side": "draft", "question": question.pk})
    assert BACKGROUND.wait_until_idle(timeout=HANGS_SECONDS)
    assert [row.question for row in SavedAnswer.objects.select_related("question")] == [saved]


def test_what_waits_is_shown_and_stopped(builder):
    copilot = make_copilot()
    saved = make_saved(copilot)
    answer(saved, Side.DRAFT, "", state=AnswerState.WAITING, answered_at=None)
    page = text_of(builder, url("s", copilot.pk))
    assert "0 of 1 answers are there." in page
    response = builder.post(url("_stop", copilot.pk), follow=True)
    assert messages_of(response) == ["Nothing more is asked. The answers that there are stay."]
    assert not SavedAnswer.objects.exists()


def test_looking_asks_for_no_change(client):
    client.force_login(make_user(Role.REVIEWERS))
    copilot = make_copilot()
    saved = make_saved(copilot)
    assert client.get(url("s", copilot.pk)).status_code == 403
    for name, ids in (
        ("_ask", [copilot.pk]),
        ("_stop", [copilot.pk]),
        ("_move", [copilot.pk, saved.pk]),
        ("", [copilot.pk, saved.pk]),
    ):
        assert client.post(url(name, *ids)).status_code == 403


def test_asking_and_stopping_are_no_links(builder):
    copilot = make_copilot()
    assert builder.get(url("_ask", copilot.pk)).status_code == 405
    assert builder.get(url("_stop", copilot.pk)).status_code == 405


def edited(client: Client, saved: SavedQuestion, **changes: str) -> Any:
    address = url("", saved.copilot_id, saved.pk)
    return submit(client, address, changes, form_id="question-form", button="_save")


def test_an_expectation_is_edited_and_what_the_question_brings_stays(builder):
    saved = make_saved(make_copilot(), body={"widgets": [WIDGET]}, expectation={"lacks": "x"})
    edited(builder, saved, question="How much?", kind="number", expected="106.5", tolerance="0.5")
    saved.refresh_from_db()
    assert saved.question == "How much?"
    assert saved.expectation == {"number": 106.5, "tolerance": 0.5}
    assert saved.body == {"widgets": [WIDGET]}
    edited(builder, saved, kind="", tolerance="")
    saved.refresh_from_db()
    assert saved.expectation == {}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"kind": "number", "expected": "many"}, "Write a number, such as 106.5."),
        ({"kind": "cites", "expected": "news"}, "The question does not bring “news”. It brings:"),
        ({"kind": "number", "expected": "inf"}, "Write a number, such as 106.5."),
        ({"kind": "number", "expected": "12 %"}, "in two ways. Write 0.12 or 12."),
        ({"kind": "number", "expected": "1,234"}, "in two ways. Write 1.234 or 1234."),
        ({"kind": "contains", "expected": " "}, "Write what is expected."),
        ({"question": ""}, "This field is required."),
        ({"kind": "matches", "expected": "x"}, "Select a valid choice."),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_lost(builder, changes, sentence):
    saved = make_saved(make_copilot(), body={"widgets": [WIDGET]}, expectation={"lacks": "x"})
    response = edited(builder, saved, **changes)
    assert sentence in response.content.decode()
    saved.refresh_from_db()
    assert (saved.question, saved.expectation) == ("What?", {"lacks": "x"})


def test_a_question_whose_widget_is_gone_can_be_read_and_mended(builder):
    saved = make_saved(make_copilot(), expectation={"cites": "prices"})
    response = edited(builder, saved, kind="cites", expected="prices")
    assert "shall cite &#x27;prices&#x27;, which it does not bring." in response.content.decode()
    broken = make_saved(saved.copilot, body={"widget": []}, expectation={"cites": "prices"})
    response = edited(builder, broken, question="Other?")
    assert "widget: there is no such key." in response.content.decode()
    edited(builder, saved, kind="contains", expected="106")
    saved.refresh_from_db()
    assert saved.expectation == {"contains": "106"}


@pytest.mark.database
def test_a_question_is_deleted_with_its_answers_alone(builder):
    copilot = make_copilot()
    saved = make_saved(copilot, answered=Side.DRAFT)
    stays = make_saved(copilot)
    builder.post(url("", copilot.pk, saved.pk), {"_delete": "1"})
    assert list(SavedQuestion.objects.all()) == [stays]
    assert not SavedAnswer.objects.exists()


def test_a_question_of_another_copilot_is_not_found(builder):
    saved = make_saved(make_copilot())
    assert builder.get(url("", make_copilot().pk, saved.pk)).status_code == 404
